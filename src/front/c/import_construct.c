/* How C++ makes structs: what fields are where nothing is said, copies, and constructors, which are functions whose first
 * parameter is `this`. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"
#include "front/c/import.h"

/* -- what fields say ------------------------------------------------------------------------------------- */
/* The value that a field has where nothing is said: `double x = 1;`. Null: none. */
static CXCursor
default_value(unit *u, CXCursor field)
{
    cursors kids = fc_cursor_children(u, field);
    bool array = clang_getCanonicalType(clang_getCursorType(field)).kind == CXType_ConstantArray;
    for (size_t i = kids.n; i-- > 0 && !clang_Cursor_isBitField(field);) {
        enum CXCursorKind kind = clang_getCursorKind(kids.at[i]);
        if (array ? kind == CXCursor_InitListExpr : clang_isExpression(kind))
            return kids.at[i];
    }
    return clang_getNullCursor();
}

static bool
has_defaults(unit *u, CXType record)
{
    record = clang_getCanonicalType(record);
    cursors all = fc_record_fields(u, record);
    for (size_t i = 0; record.kind == CXType_Record && i < all.n; i++)
        if (!clang_Cursor_isNull(default_value(u, all.at[i])) || has_defaults(u, clang_getCursorType(all.at[i])))
            return true;
    return false;
}

node *
fc_with_defaults(unit *u, CXCursor c, node *list)
{
    CXType record = clang_getCanonicalType(clang_getCursorType(c));
    if (record.kind != CXType_Record || !has_defaults(u, record))
        return list;
    if (list->count && list->list[0]->kind == E_DESIGNATED)
        return fc_node_bad(u, c, ERR_EXPRESSION, "a constructor");
    cursors all = fc_record_fields(u, record);
    node **grown = arena_new_n(u->arena, node *, all.n + 1);
    for (size_t i = 0; i < list->count; i++)
        grown[i] = list->list[i];
    list->list = grown;
    for (size_t i = list->count; i < all.n; i++) {
        CXCursor value = default_value(u, all.at[i]);
        if (has_defaults(u, clang_getCursorType(all.at[i])))
            return fc_node_bad(u, c, ERR_EXPRESSION, "a constructor");
        if (clang_Cursor_isNull(value))
            continue;
        node *field = fc_node_new(u, E_MEMBER, c), *of = fc_node_new(u, E_DESIGNATED, c);
        field->text = fc_cursor_name(u, all.at[i]);
        of->list = arena_new_n(u->arena, node *, 1);
        of->list[of->count++] = field;
        of->kid[0] = fc_import_initialiser(u, value);
        list->list[list->count++] = of;
    }
    return list;
}

made_by
fc_made_by(unit *u, CXType record)
{
    record = clang_getCanonicalType(record);
    while (record.kind == CXType_ConstantArray)
        record = clang_getCanonicalType(clang_getArrayElementType(record));
    cursors kids = fc_cursor_children(u, clang_getTypeDeclaration(record)), all = fc_record_fields(u, record);
    for (size_t i = 0; i < kids.n; i++)
        if (clang_getCursorKind(kids.at[i]) == CXCursor_Constructor && !clang_CXXMethod_isDefaulted(kids.at[i]))
            return MADE_BY_CONSTRUCTORS;
    for (size_t i = 0; record.kind == CXType_Record && i < all.n; i++)
        if (fc_made_by(u, clang_getCursorType(all.at[i])))
            return MADE_IN_PARTS;
    return MADE_PLAINLY;
}

/* -- constructors that the program has ------------------------------------------------------------------- */
/* ({ T made; constructor(&made, ...); made; }) */
static node *
constructed(unit *u, CXCursor c, CXCursor constructor)
{
    ctype *type = fc_import_type(u, clang_getCursorType(c));
    decl *made = arena_one(u->arena, decl);
    node *block = fc_node_new(u, S_BLOCK, c), *all = fc_node_typed(u, E_STATEMENTS, c, type), *call = fc_node_new(u, E_CALL, c);
    node *address = fc_node_typed(u, E_ADDR, c, fc_reference_to(u, type)), *declared = fc_node_new(u, S_DECL, c);
    *made = (decl){.kind = DECL_VAR, .name = "made", .type = type, .place = all->place, .unit = u, .address_taken = true};
    block->list = arena_new_n(u->arena, node *, 3);
    declared->list = &block->list[2];
    declared->count = 1;
    block->list[0] = declared;
    block->list[1] = call;
    block->list[2] = fc_node_typed(u, E_REF, c, type);
    block->list[2]->decl = made;
    block->count = 3;
    address->kid[0] = block->list[2];
    call->decl = fc_import_decl(u, constructor);
    call->type = call->decl->type;
    list_push(u->arena, &u->pending, call->decl);
    fc_import_arguments(u, call, c, constructor, address, 0);
    all->kid[0] = block;
    return all;
}

/* Where the constructor says what a field is; null: nowhere. */
static CXCursor
said_of(const cursors *kids, CXCursor field)
{
    for (size_t i = 0; i + 1 < kids->n; i++)
        if (clang_getCursorKind(kids->at[i]) == CXCursor_MemberRef &&
            clang_equalCursors(clang_getCursorReferenced(kids->at[i]), field))
            return kids->at[i + 1];
    return clang_getNullCursor();
}

static node *
set_field(unit *u, CXCursor c, uint32_t number, const ctype *type, CXCursor value)
{
    node *this = fc_node_typed(u, E_REF, c, u->self->type), *n = fc_node_typed(u, E_ASSIGN, c, type->rec->fields[number].type);
    this->decl = u->self;
    n->kid[0] = fc_node_typed(u, E_MEMBER, c, n->type);
    n->kid[0]->bits = number;
    n->kid[0]->kid[0] = fc_follow(u, this, c);
    n->kid[1] = fc_import_expr(u, value);
    return n;
}

node *
fc_import_constructor_body(unit *u, CXCursor constructor)
{
    CXType record = clang_getCursorType(clang_getCursorSemanticParent(constructor));
    const ctype *type = fc_import_type(u, record);
    cursors kids = fc_cursor_children(u, constructor), all = fc_record_fields(u, clang_getCanonicalType(record));
    node *body = fc_node_new(u, S_BLOCK, constructor);
    body->list = arena_new_n(u->arena, node *, all.n + kids.n + 1);
    for (size_t i = 0; i + 1 < kids.n; i++) { /* of a base, or another constructor */
        bool calls = clang_getCursorKind(kids.at[i]) == CXCursor_TypeRef && clang_getCursorKind(kids.at[i + 1]) == CXCursor_CallExpr;
        if (calls)
            body->list[body->count++] = fc_node_bad(u, constructor, ERR_EXPRESSION, "a constructor that calls another one");
    }
    for (size_t i = 0; i < all.n && type->kind == TYPE_STRUCT; i++) {
        const ctype *of = type->rec->fields[i].type;
        CXCursor value = said_of(&kids, all.at[i]);
        value = clang_Cursor_isNull(value) ? default_value(u, all.at[i]) : value;
        while (of->kind == TYPE_ARRAY)
            of = of->elem;
        bool silent = clang_Cursor_isNull(value) && of->kind == TYPE_STRUCT && (of->rec->made || has_defaults(u, clang_getCursorType(all.at[i])));
        bool array = !clang_Cursor_isNull(value) && type->rec->fields[i].type->kind == TYPE_ARRAY;
        if (silent || array)
            body->list[body->count++] = fc_node_bad(u, constructor, ERR_EXPRESSION, "a field that a constructor makes");
        else if (!clang_Cursor_isNull(value) && !type->rec->fields[i].hidden)
            body->list[body->count++] = set_field(u, value, (uint32_t)i, type, value);
    }
    for (size_t i = 0; i < kids.n; i++)
        if (clang_getCursorKind(kids.at[i]) == CXCursor_CompoundStmt)
            body->list[body->count++] = fc_import_stmt(u, kids.at[i]);
    return body;
}

/* A struct made: by a constructor of its own, as a copy, or of what its fields say. NULL: it has no value. */
node *
fc_construct(unit *u, CXCursor c, CXCursor constructor)
{
    int n = clang_Cursor_getNumArguments(c);
    bool copies = clang_CXXConstructor_isCopyConstructor(constructor) || clang_CXXConstructor_isMoveConstructor(constructor);
    bool array = clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_ConstantArray;
    if (!clang_CXXMethod_isDefaulted(constructor) && !copies && !array)
        return constructed(u, c, constructor);
    if (n > 1 || !clang_CXXMethod_isDefaulted(constructor) || (n && !copies))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a constructor");
    if (n)
        return fc_import_expr(u, clang_Cursor_getArgument(c, 0));
    if (fc_made_by(u, clang_getCursorType(c)))
        return fc_node_bad(u, c, ERR_EXPRESSION, "a constructor");
    if (!has_defaults(u, clang_getCursorType(c)))
        return NULL;
    node *list = fc_node_new(u, E_INIT, c);
    list->type = fc_import_type(u, clang_getCursorType(c));
    return fc_with_defaults(u, c, list);
}

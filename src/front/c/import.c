/* Types and declarations: what libclang has → the front end's tree. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"
#include "front/c/import.h"

/* -- types
 * ----------------------------------------------------------------------------------------- */
static rg_dtype
integer_dtype(bool is_signed, long long size)
{
    switch (size) {
    case 1:
        return is_signed ? RG_I8 : RG_U8;
    case 2:
        return is_signed ? RG_I16 : RG_U16;
    case 4:
        return is_signed ? RG_I32 : RG_U32;
    case 8:
        return is_signed ? RG_I64 : RG_U64;
    default:
        return RG_NONE;
    }
}

static rg_dtype
scalar_dtype(CXType t)
{
    switch (t.kind) {
    case CXType_Bool:
        return RG_BOOL;
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_Short:
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong:
    case CXType_WChar:
        return integer_dtype(true, clang_Type_getSizeOf(t));
    case CXType_Char_U:
    case CXType_UChar:
    case CXType_UShort:
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong:
    case CXType_Char16:
    case CXType_Char32:
        return integer_dtype(false, clang_Type_getSizeOf(t));
    case CXType_Float16:
        return RG_F16;
    case CXType_Float:
        return RG_F32;
    case CXType_Double:
        return RG_F64;
    case CXType_Enum:
        return scalar_dtype(
            clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(t))));
    default:
        return RG_NONE;
    }
}

static const char *
type_name(unit *u, CXType t)
{
    CXString s = clang_getTypeSpelling(t);
    const char *name = arena_str(u->arena, rg_str_of(clang_getCString(s)));
    clang_disposeString(s);
    return name;
}

/* The error for a field of this type; 0: kernels may have it. */
static unsigned
field_problem(const ctype *t)
{
    if (t->is_volatile)
        return ERR_VOLATILE;
    switch (t->kind) {
    case TYPE_ARRAY:
        if (t->length < 0)
            return ERR_FIELD_LENGTH;
        return field_problem(t->elem);
    case TYPE_BAD:
        return t->problem;
    default:
        return 0;
    }
}

static void
import_field(unit *u, record *r, field *f, CXCursor c)
{
    *f = (field){.name = fc_cursor_name(u, c), .leaf = r->leaves, .pointer = r->pointers};
    if (strchr(f->name, '('))
        f->name = ""; /* an anonymous struct or union, of which libclang says where it stands */
    f->type = fc_import_type(u, clang_getCursorType(c));
    f->offset = (uint32_t)(clang_Cursor_getOffsetOfField(c) / 8);
    f->hidden = clang_Cursor_isBitField(c)                      ? ERR_BITFIELD
                : fc_is_reference(clang_getCursorType(c)) ? ERR_TYPE
                                                                : field_problem(f->type);
    if (f->hidden)
        return;
    r->leaves += fc_type_leaves(f->type);
    r->pointers += fc_type_pointers(f->type);
}

/* A record is imported once: its qualified types share what the plain one has. */
static void
import_record(unit *u, ctype *t, CXType canonical)
{
    CXType plain = clang_getUnqualifiedType(canonical);
    if (!clang_equalTypes(plain, canonical)) {
        const ctype *same = fc_import_type(u, plain);
        t->kind = same->kind;
        t->rec = same->rec;
        t->problem = same->problem;
        if (t->kind == TYPE_BAD)
            t->name = same->name;
        return;
    }
    if (clang_getCursorKind(clang_getTypeDeclaration(canonical)) == CXCursor_UnionDecl) {
        t->kind = TYPE_BAD;
        t->name = "union";
        t->problem = ERR_UNION;
        return;
    }
    if (u->cxx && fc_is_lambda(plain)) { /* what it captures is no part of its value */
        t->kind = TYPE_STRUCT;
        t->rec = arena_one(u->arena, record);
        *t->rec = (record){.unit = u, .name = "lambda", .fields = arena_new_n(u->arena, field, 1)};
        return;
    }
    if (u->cxx && fc_is_managed(u, plain)) {
        t->kind = TYPE_BAD;
        t->problem = ERR_TYPE;
        return;
    }
    t->kind = TYPE_STRUCT;
    t->rec = arena_one(u->arena, record);
    t->rec->unit = u;
    t->rec->name = type_name(u, plain);
    t->rec->place = fc_cursor_place(u, clang_getTypeDeclaration(plain));
    cursors all = fc_record_fields(u, canonical);
    t->rec->nfields = (uint32_t)all.n;
    t->rec->fields = arena_new_n(u->arena, field, all.n + 1);
    for (size_t i = 0; i < all.n; i++)
        import_field(u, t->rec, &t->rec->fields[i], all.at[i]);
    long long size = clang_Type_getSizeOf(canonical);
    t->rec->size = size > 0 ? (uint32_t)size : 0;
    t->rec->made = u->cxx ? fc_made_by(u, plain) : MADE_PLAINLY;
}

static void
fill_type(unit *u, ctype *t, CXType c)
{
    switch (c.kind) {
    case CXType_Void:
        t->kind = TYPE_VOID;
        break;
    case CXType_Pointer:
    case CXType_LValueReference:
    case CXType_RValueReference:
        t->kind = TYPE_POINTER;
        t->elem = fc_import_type(u, clang_getPointeeType(c));
        break;
    case CXType_ConstantArray:
    case CXType_VariableArray:
    case CXType_IncompleteArray:
        t->kind = TYPE_ARRAY;
        t->elem = fc_import_type(u, clang_getArrayElementType(c));
        t->length = c.kind == CXType_ConstantArray ? clang_getArraySize(c) : -1;
        t->constant |= t->elem->constant;
        break;
    case CXType_Record:
        import_record(u, t, c);
        break;
    case CXType_FunctionProto:
    case CXType_FunctionNoProto:
        t->kind = TYPE_FUNCTION;
        break;
    default:
        t->dtype = scalar_dtype(c);
        t->kind = t->dtype == RG_NONE ? TYPE_BAD : TYPE_SCALAR;
        t->problem = c.kind == CXType_LongDouble || c.kind == CXType_Float128 ? ERR_LONG_DOUBLE
                     : c.kind == CXType_Complex                               ? ERR_COMPLEX
                                                                              : ERR_TYPE;
        break;
    }
}

ctype *
fc_import_type(unit *u, CXType type)
{
    CXType c = clang_getCanonicalType(type);
    uint64_t key = map_ptr(c.data[0]);
    ctype *known = map_get(&u->types, key);
    if (known)
        return known;
    ctype *t = arena_one(u->arena, ctype);
    map_set(&u->types, key, t);
    t->length = -1;
    t->name = type_name(u, type);
    t->constant = clang_isConstQualifiedType(c);
    t->is_volatile = clang_isVolatileQualifiedType(c);
    fill_type(u, t, c);
    return t;
}

/* -- declarations
 * ---------------------------------------------------------------------------------- */
/* Parameters written as arrays are pointers; libclang shows them as written. */
ctype *
fc_adjust_array(unit *u, ctype *t)
{
    if (t->kind != TYPE_ARRAY)
        return t;
    ctype *p = arena_one(u->arena, ctype);
    *p = (ctype){.kind = TYPE_POINTER,
                 .elem = t->elem,
                 .length = -1,
                 .name = t->name,
                 .const_elements = t->constant};
    return p;
}

/* Extents that only the constants of the file make known, as in `const int n = 8; float r[n];`: the array's type with
 * them. What is not known stays open. */
static ctype *
known_extents(unit *u, ctype *t, node *const *extents)
{
    int64_t length = t->length;
    if (t->kind != TYPE_ARRAY)
        return t;
    ctype *elem = known_extents(u, t->elem, extents + 1);
    if (length < 0 && *extents && (!fc_is_constant_node(*extents, &length) || length < 0))
        length = -1;
    if (elem == t->elem && length == t->length)
        return t;
    ctype *known = arena_one(u->arena, ctype);
    *known = *t;
    known->elem = elem;
    known->length = length;
    return known;
}

/* The extents as written, outermost first. Expression children of the parameter are those that are
 * there, innermost first, and the initialiser; which axis has none is known from the type: only the outermost may. */
static void
import_extents(unit *u, decl *d, CXCursor c, const ctype *written)
{
    cursors kids = fc_cursor_children(u, c);
    CXCursor init = clang_Cursor_getVarDeclInitializer(c);
    list(node *) found = {0};
    for (size_t i = 0; i < kids.n; i++) {
        if (clang_isExpression(clang_getCursorKind(kids.at[i])) && !clang_equalCursors(kids.at[i], init))
            list_push(u->arena, &found, fc_import_expr(u, kids.at[i]));
    }
    uint32_t rank = 0, open = 0;
    for (const ctype *t = written; t->kind == TYPE_ARRAY; t = t->elem) {
        rank++;
        open += t->length < 0;
    }
    open -= clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_IncompleteArray; /* double s[][6] */
    d->nextents = rank;
    d->extents = arena_new_n(u->arena, node *, rank + 1);
    bool typedefs = found.n < rank && found.n == open; /* constant axes come from a typedef */
    size_t next = 0;
    for (uint32_t axis = rank; axis-- > 0 && next < found.n;) {
        const ctype *t = written;
        for (uint32_t k = 0; k < axis; k++)
            t = t->elem;
        if (!typedefs || t->length < 0)
            d->extents[axis] = found.at[next++];
    }
}

/* double (*rows)[n]: as those of double rows[][n] */
static void
import_row_extents(unit *u, decl *d, CXCursor c, const ctype *row)
{
    if (row->kind != TYPE_ARRAY)
        return;
    import_extents(u, d, c, row);
    node **all = arena_new_n(u->arena, node *, d->nextents + 2);
    memcpy(all + 1, d->extents, d->nextents * sizeof(*all));
    d->extents = all;
    d->nextents++;
}

/* Where the name stands: what precedes it may be long. */
static rg_place
name_place(unit *u, CXCursor c)
{
    CXFile file = NULL;
    unsigned line, col, offset;
    clang_getExpansionLocation(clang_getCursorLocation(c), &file, &line, &col, &offset);
    if (!file)
        return (rg_place){0, 0, 0, 0};
    uint32_t length = (uint32_t)strlen(fc_cursor_name(u, c));
    return (rg_place){fc_unit_file(u, file)->number, line, col, col + length};
}

/* __attribute__((noreturn)) is of the type, _Noreturn of the declaration. */
static bool
never_returns(unit *u, CXCursor c)
{
    if (strstr(type_name(u, clang_getCursorType(c)), "noreturn"))
        return true;
    cursors kids = fc_cursor_children(u, c);
    for (size_t i = 0; i < kids.n; i++) {
        if (clang_getCursorKind(kids.at[i]) != CXCursor_UnexposedAttr)
            continue;
        CXFile file = NULL;
        unsigned line, col, offset;
        clang_getSpellingLocation(clang_getRangeStart(clang_getCursorExtent(kids.at[i])), &file, &line, &col, &offset);
        size_t len = 0;
        const char *text = file ? clang_getFileContents(u->tu, file, &len) : NULL;
        if (text && offset + 9 <= len && (memcmp(text + offset, "_Noreturn", 9) == 0 || memcmp(text + offset, "noreturn", 8) == 0))
            return true;
    }
    return false;
}

static void
import_function(unit *u, decl *d, CXCursor c)
{
    CXCursor definition = clang_getCursorDefinition(c);
    d->kind = DECL_FUNCTION;
    d->has_body = !clang_Cursor_isNull(definition);
    if (d->has_body)
        c = definition;
    d->place = name_place(u, c);
    CXType result = clang_getCanonicalType(clang_getCursorResultType(c));
    bool value = fc_is_by_value(c, result);
    d->reference = fc_is_reference(result) && !value;
    d->type = fc_import_type(u, value ? clang_getPointeeType(result) : result);
    d->variadic = clang_Cursor_isVariadic(c);
    d->noreturn = never_returns(u, clang_getCanonicalCursor(c)) || never_returns(u, c);
    enum CX_StorageClass storage = clang_Cursor_getStorageClass(c);
    d->external = storage != CX_SC_Static && d->has_body && !clang_Cursor_isFunctionInlined(c) &&
                  (!u->cxx || clang_getCursorLinkage(c) == CXLinkage_External);
    d->cursor = arena_alloc(u->arena, sizeof(CXCursor));
    memcpy(d->cursor, &c, sizeof(c));
}

static void
import_variable(unit *u, decl *d, CXCursor c)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    d->kind = clang_getCursorKind(c) == CXCursor_ParmDecl ? DECL_PARAM : DECL_VAR;
    bool value = d->kind == DECL_PARAM && fc_is_by_value(clang_getCursorSemanticParent(c), type);
    ctype *written = fc_import_type(u, value ? clang_getPointeeType(type) : clang_getCursorType(c));
    d->reference = fc_is_reference(type) && !value;
    d->type = d->kind == DECL_PARAM ? fc_adjust_array(u, written) : written;
    if (d->kind == DECL_PARAM) {
        if (written->kind == TYPE_POINTER)
            import_row_extents(u, d, c, written->elem);
        else
            import_extents(u, d, c, written);
        return;
    }
    enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(c));
    d->global = parent == CXCursor_TranslationUnit || parent == CXCursor_Namespace || parent == CXCursor_LinkageSpec;
    d->cursor = arena_alloc(u->arena, sizeof(CXCursor));
    memcpy(d->cursor, &c, sizeof(c));
    d->lasting = d->global || clang_Cursor_getStorageClass(c) == CX_SC_Static ||
                 clang_Cursor_getStorageClass(c) == CX_SC_Extern;
    d->elsewhere = d->lasting && clang_Cursor_getStorageClass(c) == CX_SC_Extern;
    CXCursor init = clang_Cursor_getVarDeclInitializer(c);
    if (written->kind == TYPE_POINTER && !d->lasting)
        import_row_extents(u, d, c, written->elem);
    if (!clang_Cursor_isNull(init)) {
        d->elsewhere = false;
        d->init = u->cxx ? fc_import_cxx_initialiser(u, init, c) : fc_import_initialiser(u, init);
    } else if (written->kind == TYPE_ARRAY && !d->lasting) {
        import_extents(u, d, c, written);
        d->type = known_extents(u, written, d->extents);
    }
}

/* The one of several declarations that stands for a variable: `extern int n; int n;` is one that is zero. */
static CXCursor
variable_cursor(unit *u, CXCursor c)
{
    CXCursor first = clang_getCanonicalCursor(c), defining;
    if (clang_getCursorLinkage(first) != CXLinkage_External)
        return first;
    void *known = map_get(&u->tentative, map_ptr(first.data[0]));
    if (known)
        memcpy(&defining, known, sizeof(defining));
    else if (!fc_unit_tentative(u, fc_cursor_name(u, c), &defining))
        defining = first;
    if (!known) {
        known = arena_alloc(u->arena, sizeof(defining));
        memcpy(known, &defining, sizeof(defining));
        map_set(&u->tentative, map_ptr(first.data[0]), known);
    }
    return defining;
}

/* Whether other files know it by its name alone, as in C. */
static bool
has_plain_name(unit *u, CXCursor c)
{
    CXString s = clang_Cursor_getMangling(c);
    bool plain = strcmp(clang_getCString(s), fc_cursor_name(u, c)) == 0;
    clang_disposeString(s);
    return plain;
}

decl *
fc_import_decl(unit *u, CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor;
    if (function) {
        CXCursor definition = clang_getCursorDefinition(c);
        c = clang_Cursor_isNull(definition) ? clang_getCanonicalCursor(c) : definition;
    } else if (clang_getCursorKind(c) == CXCursor_VarDecl) { /* one of its declarations may initialise it */
        CXCursor definition = clang_getCursorDefinition(c);
        c = clang_Cursor_isNull(definition) ? variable_cursor(u, c) : definition;
    }
    uint64_t key = map_ptr(c.data[0]);
    decl *d = map_get(&u->decls, key);
    if (d)
        return d;
    d = arena_one(u->arena, decl);
    map_set(&u->decls, key, d);
    d->unit = u;
    d->name = fc_cursor_name(u, c);
    d->place = fc_cursor_place(u, c);
    d->shared = clang_getCursorLinkage(c) == CXLinkage_External && (!u->cxx || has_plain_name(u, c));
    d->system = clang_Location_isInSystemHeader(clang_getCursorLocation(c));
    if (function)
        import_function(u, d, c);
    else
        import_variable(u, d, c);
    return d;
}

static bool
has_this(CXCursor c)
{
    enum CXCursorKind kind = clang_getCursorKind(c);
    return kind == CXCursor_Constructor || (kind == CXCursor_CXXMethod && !clang_CXXMethod_isStatic(c) &&
                                            !fc_is_lambda(clang_getCursorType(clang_getCursorSemanticParent(c))));
}

void
fc_import_parameters(decl *fn)
{
    CXCursor c;
    memcpy(&c, fn->cursor, sizeof(c));
    if (!fn->params) {
        int n = clang_Cursor_getNumArguments(c);
        fn->params = arena_new_n(fn->unit->arena, decl *, (size_t)(n > 0 ? n : 0) + 2);
        if (has_this(c))
            fn->params[fn->nparams++] = fc_self(fn->unit, c);
        for (int i = 0; i < n; i++)
            fn->params[fn->nparams++] = fc_import_decl(fn->unit, clang_Cursor_getArgument(c, (unsigned)i));
    }
}

int64_t
fc_declared_parameters(decl *fn, ctype ***out)
{
    CXCursor c;
    memcpy(&c, fn->cursor, sizeof(c));
    CXType type = clang_getCanonicalType(clang_getCursorType(c));
    int n = type.kind == CXType_FunctionProto ? clang_getNumArgTypes(type) : -1;
    *out = arena_new_n(fn->unit->arena, ctype *, n + 1);
    for (int i = 0; i < n; i++)
        (*out)[i] = fc_adjust_array(fn->unit, fc_import_type(fn->unit, clang_getArgType(type, (unsigned)i)));
    return n;
}

static void
import_body(unit *u, decl *fn)
{
    if (!fn->has_body || fn->body)
        return;
    CXCursor c;
    memcpy(&c, fn->cursor, sizeof(c));
    fc_import_parameters(fn);
    u->self = has_this(c) ? fn->params[0] : NULL;
    u->refers = fn->reference;
    u->captures = fn->captures;
    if (clang_getCursorKind(c) == CXCursor_Constructor) {
        fn->body = fc_import_constructor_body(u, c);
        return;
    }
    cursors kids = fc_cursor_children(u, c);
    for (size_t i = 0; i < kids.n; i++) {
        if (clang_getCursorKind(kids.at[i]) == CXCursor_CompoundStmt)
            fn->body = fc_import_stmt(u, kids.at[i]);
    }
}

void
fc_unit_import_all(unit *u)
{
    if (u->all_imported)
        return;
    u->all_imported = true;
    cursors all = u->top;
    for (size_t i = 0; i < all.n; i++) {
        if (clang_getCursorKind(all.at[i]) == CXCursor_VarDecl)
            list_push(u->arena, &u->globals, fc_import_decl(u, all.at[i]));
        if (clang_getCursorKind(all.at[i]) != CXCursor_FunctionDecl || !clang_isCursorDefinition(all.at[i]))
            continue;
        decl *fn = fc_import_decl(u, all.at[i]);
        fc_unit_import_body(u, fn);
        list_push(u->arena, &u->defined, fn);
    }
}

uint32_t
fc_unit_globals(unit *u, decl ***out)
{
    *out = u->globals.at;
    return (uint32_t)u->globals.n;
}

uint32_t
fc_unit_functions(unit *u, decl ***out)
{
    *out = u->defined.at;
    return (uint32_t)u->defined.n;
}

void
fc_unit_import_body(unit *u, decl *fn)
{
    list_push(u->arena, &u->pending, fn);
    while (u->pending.n)
        import_body(u, list_pop(&u->pending));
}

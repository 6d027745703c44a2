"""Instructions of AMD's GPUs as functions of this machine, for tests/amd/waves.c. SPDX-License-Identifier: Apache-2.0

    instructions.py CHECKOUT SOCKET [KEPT]

What an instruction does is what the emulator of tinygrad says, of which CHECKOUT is a clone: it makes C of the maker's own description
of the instruction. This process hands the machine code out, and keeps it in file KEPT for the next one. An instruction's registers
and constants are read as it runs, so that a few hundred functions are all that there is.

    asked      u32 GPU (1100, 942), 16 bytes from the instruction on
    answered   u32 bytes of the instruction (0: there is none such), u32 flags, u32 number of the function, u32 bytes that follow, u8[8]
               arguments; then the function, where it was not sent before, or what is wrong

The arguments of a function are pointers, in an order of its own: 0 scalar registers, 1 vector registers, 2 memory (from address 0 on),
3 a block's shared memory, 4 the wave's scratch, 5 accumulation registers. Behind the scalar registers are constants, and what waves.c
adds to them."""
import hashlib, os, pickle, re, selectors, socket, struct, sys

CHECKOUT, PATH = sys.argv[1:3]
KEPT = sys.argv[3] if len(sys.argv) > 3 else None
sys.path.insert(0, CHECKOUT)

from test.mockgpu.amd import emu, pcode
from tinygrad.dtype import dtypes
from tinygrad.renderer.amd import decode_inst
from tinygrad.runtime.support.compiler_cpu import ClangCompiler
from tinygrad.runtime.support.elf import jit_loader
from tinygrad.uop.ops import Ops, UOp

BARRIER, YIELDS, INDEXES = 1, 2, 4  # flags; the last: where registers are indexed it is right, too
NAMES = {1100: "rdna3", 942: "cdna"}
# scalar registers that waves.c adds
SHARED_BASE, PRIVATE_BASE, SCRATCH, SHARED, CLOCK, INDEXING = 235, 237, 209, 211, 213, 215
M0, M0_CDNA = 125, 124  # the former of RDNA 3


def u32(n):
    return UOp.const(n, dtypes.uint32)


def u64(n):
    return UOp.const(n, dtypes.uint64)


# -- what the emulator lacks --------------------------------------------------------------------------------------------

def fused(a, b, c):
    """One rounding. The emulator writes a * b + c, and it is the compiler's choice what becomes of it."""
    if a.dtype == dtypes.float64:
        return UOp(Ops.CUSTOMI, dtypes.float64, (a, b, c), "__builtin_fma({0},{1},{2})")
    if a.dtype == dtypes.float32:
        return UOp(Ops.CUSTOMI, dtypes.float32, (a, b, c), "__builtin_fmaf({0},{1},{2})")
    return a * b + c


pcode._FUNCS["fma"] = fused
pcode._FUNCS["signed24"] = lambda a: (((a & u32(0xffffff)) ^ u32(1 << 23)) - u32(1 << 23)).bitcast(dtypes.int32)
pcode._FUNCS["unsigned24"] = lambda a: a & u32(0xffffff)


class Division:
    """Of one type. Operands are scaled by 2 ** scale: where the exponents of numerator and denominator differ by `far` or more, so that the
    quotient is near to the largest number, and where the numerator's exponent is at most `tiny`."""

    def __init__(self, dtype, bias, scale, far, tiny, fused):
        self.up, self.down = UOp.const(2.0 ** scale, dtype), UOp.const(2.0 ** -scale, dtype)
        self.bias, self.far, self.tiny, self.fused = bias, far, tiny, fused


DIVISIONS = {
    dtypes.float32: Division(dtypes.float32, 127, 64, 96, 23,
                               "((float)(__builtin_fma((double){0}, (double){1}, (double){2}) * (double){3}))"),
    dtypes.float64: Division(dtypes.float64, 1023, 128, 768, 53, "(__builtin_fma({0}, {1}, {2}) * {3})"),
}
exponent, subnormal = pcode._FUNCS["exponent"], pcode._FUNCS["isDENORM"]


def quotient(a, b):
    return UOp(Ops.CUSTOMI, a.dtype, (a, b), "({0} / {1})")


def is_tiny(a):
    """Zero, or below the normal range."""
    return exponent(a).eq(0)


def is_far(d, n):
    """The quotient of n by d comes near to the largest number."""
    return exponent(n) - exponent(d) >= DIVISIONS[d.dtype].far


def any_zero(d, n):
    return d.eq(0.0) | n.eq(0.0)


def division_flag(d, n):
    """Whether v_div_fmas has to scale the quotient back."""
    return ~any_zero(d, n) & (is_far(d, n) | (~subnormal(d) & is_tiny(quotient(n, d))))


def division_operand(s, d, n):
    """s, which is d or n, scaled so that no step of the quotient leaves the normal range. Where both the quotient and the reciprocal are
    tiny the maker's text has the denominator grow, beyond all numbers; it has to shrink."""
    w, one = DIVISIONS[s.dtype], UOp.const(1.0, s.dtype)
    inverse, tiny, up = is_tiny(quotient(one, d)), is_tiny(quotient(n, d)), s * w.up
    near = (inverse & tiny).where(s.eq(d).where(s * w.down, s), inverse.where(s * w.down, tiny.where(s.eq(n).where(up, s),
                                  (exponent(n) <= w.tiny).where(up, s))))
    scaled = is_far(d, n).where(s.eq(d).where(up, s), subnormal(d).where(up, near))
    return any_zero(d, n).where(UOp.const(float("nan"), s.dtype), scaled)


def division_end(a, b, c, flag):
    """a * b + c, scaled back if flag. In f64 a subnormal result is rounded twice, by the emulator only."""
    w = DIVISIONS[a.dtype]
    back = flag.ne(0).where((exponent(c) > w.bias).where(w.up, w.down), UOp.const(1.0, a.dtype))
    return UOp(Ops.CUSTOMI, a.dtype, (a, b, c, back), w.fused)


pcode._FUNCS.update(division_flag=division_flag, division_operand=division_operand, division_end=division_end)

DIVISION_TEXT = {
    "V_DIV_SCALE": "VCC.u64[laneId] = division_flag(S1.F, S2.F);\nD0.F = division_operand(S0.F, S1.F, S2.F)",
    "V_DIV_FMAS": "D0.F = division_end(S0.F, S1.F, S2.F, VCC.u64[laneId])",
}

described = emu.get_pcode


def text_of(op):
    """Quotients, whose subnormal operands and results the emulator has as infinity and 0. Numbers of 24 bits, which it takes for as many
    as there are. On CDNA v_fma_mix has the name and the text of Vega's v_mad_mix, which rounds twice."""
    division = DIVISION_TEXT.get(re.sub(r"_F(32|64).*", "", op.name))
    if division:
        return division.replace(".F", ".f64" if "F64" in op.name else ".f32")
    text = re.sub(r"\b(S[012])\.([iu])24\b", lambda m: f"{'signed' if m[2] == 'i' else 'unsigned'}24({m[1]}.u32)", described(op))
    return text.replace("in[0] * in[1] + in[2]", "fma(in[0], in[1], in[2])") if "MAD_MIX" in op.name else text


emu.get_pcode = text_of

made_by_clang = ClangCompiler.__init__


def without_contraction(self, *args, **named):
    made_by_clang(self, *args, **named)
    self.args = self.args + ["-ffp-contract=off"]
    self.cachekey = None  # of the emulator's own cache, where the same text stands for other code


ClangCompiler.__init__ = without_contraction

attribute = emu._iattr


def attribute_of_either(inst, name, default=0):
    """The bit that asks an atomic for the old value is sc0 on CDNA."""
    return attribute(inst, "sc0" if name == "glc" and hasattr(inst, "sc0") else name, default)


emu._iattr = attribute_of_either

source = emu._Ctx.rsrc_dyn


def with_apertures(self, off, lane, bits=32, *args, **named):
    """Of memory that is a thread's or a block's: the upper half of its addresses."""
    value = source(self, off, lane, bits, *args, **named)
    if bits != 64:
        return value
    aperture = off.eq(u32(SHARED_BASE)) | off.eq(u32(PRIVATE_BASE))
    return aperture.where(self.rsgpr_dyn(off, aperture).cast(dtypes.uint64) << u64(32), value)


emu._Ctx.rsrc_dyn = with_apertures


def pair(ctx, register):
    return emu._u64(ctx.rsgpr_dyn(register), ctx.rsgpr_dyn(register + u32(1)))


class Flat(emu._Ctx):
    """Addresses in the apertures are elsewhere in this machine's memory, and no scalar register is added to any."""
    __slots__ = ("low", "high")

    def __init__(self, inst, size, wave):
        super().__init__(size, wave)
        self.low = super().inst_field(type(inst).addr)
        self.high = self.low + u32(1)

    def optional_field(self, inst, name):
        return None if name == "saddr" else super().optional_field(inst, name)

    def inst_field_signed(self, field):
        """Distances are not signed there."""
        return super().inst_field(field).cast(dtypes.int)

    def address(self, lane):
        low, high = super().rvgpr_dyn(self.low, lane), super().rvgpr_dyn(self.high, lane)
        offset = lane.cast(dtypes.uint64) * self.rsgpr_dyn(u32(emu.SCRATCH_STRIDE_IDX)).cast(dtypes.uint64)
        private = pair(self, u32(SCRATCH)) + offset + low.cast(dtypes.uint64)
        shared = pair(self, u32(SHARED)) + low.cast(dtypes.uint64)
        elsewhere = high.eq(self.rsgpr_dyn(u32(SHARED_BASE))).where(shared, emu._u64(low, high))
        return high.eq(self.rsgpr_dyn(u32(PRIVATE_BASE))).where(private, elsewhere)

    def rvgpr_dyn(self, reg, lane, valid=None):
        if reg is self.low:
            return self.address(lane).cast(dtypes.uint32)
        if reg is self.high:
            return (self.address(lane) >> u64(32)).cast(dtypes.uint32)
        return super().rvgpr_dyn(reg, lane, valid)


class Shared(emu._Ctx):
    """Lanes that are off have any address: the emulator reads there, and writes what it has read."""
    __slots__ = ("place",)

    def __init__(self, inst, size, wave):
        super().__init__(size, wave)
        self.place = super().inst_field(type(inst).addr)

    def rvgpr_dyn(self, reg, lane, valid=None):
        value = super().rvgpr_dyn(reg, lane, valid)
        return emu._lane_active(self.rexec(), lane).where(value, u32(0)) if reg is self.place else value


class Accumulating(emu._Ctx):
    """v_fmac_f64_e64 of CDNA adds to a pair of registers, of which the emulator reads one."""
    __slots__ = ("to",)

    def __init__(self, inst, size, wave):
        super().__init__(size, wave)
        self.to = super().inst_field(type(inst).vdst)

    def rvgpr_dyn(self, reg, lane, valid=None):
        value = super().rvgpr_dyn(reg, lane, valid)
        return emu._u64(value, super().rvgpr_dyn(reg + u32(1), lane)) if reg is self.to else value


def address_of(inst, ctx, lane):
    kind = type(inst)
    offset = ctx.inst_field_signed(kind.offset).cast(dtypes.uint64)
    register = ctx.inst_field(kind.addr)
    low, high = ctx.rvgpr_dyn(register, lane), ctx.rvgpr_dyn(register + u32(1), lane)
    scalar = ctx.optional_field(inst, "saddr")
    if scalar is None:
        return emu._u64(low, high) + offset
    return (scalar < u32(124)).where(pair(ctx, scalar) + low.cast(dtypes.uint64), emu._u64(low, high)) + offset


def compare_and_swap(inst, ctx):
    """Lane by lane; of the data the first half is new, the second what has to be there."""
    kind, name = type(inst), emu._op_name(inst)
    words = 2 if "B64" in name or "X2" in name else 1
    lane, mask = ctx.range(), ctx.rexec()
    active = emu._lane_active(mask, lane)
    address = address_of(inst, ctx, lane) >> u64(2)
    data, to = ctx.inst_field(kind.data), ctx.inst_field(kind.vdst)
    places = [ctx.vmem.index((address + u64(i)).valid(active)) for i in range(words)]
    old = [p.load() for p in places]
    new = [ctx.rvgpr_dyn(data + u32(i), lane) for i in range(words)]
    same = active
    for i in range(words):
        same = same & old[i].eq(ctx.rvgpr_dyn(data + u32(words + i), lane))
    stores = [p.store(same.where(n, o)) for p, n, o in zip(places, new, old)]
    if attribute_of_either(inst, "glc"):
        stores += [ctx.wvgpr_dyn(to + u32(i), lane, old[i], mask) for i in range(words)]
    return UOp.sink(UOp.group(*stores).end(lane), *ctx.inc_pc())


def permute(inst, ctx):
    """ds_bpermute: the emulator reads registers of lanes that are off, far beyond the last."""
    kind, mask, stores = type(inst), ctx.rexec(), []
    place, data, to = ctx.inst_field(kind.addr), ctx.inst_field(kind.data0), ctx.inst_field(kind.vdst)
    offset = ctx.inst_field(kind.offset0) | ctx.inst_field(kind.offset1) << u32(8)
    for lane in (u32(i) for i in range(ctx.wave_size)):
        other = (ctx.rvgpr_dyn(place, lane) + offset >> u32(2)) & u32(ctx.wave_size - 1)
        value = emu._lane_active(mask, other).where(ctx.rvgpr_dyn(data, other), u32(0))
        stores.append(ctx.wvgpr_dyn(to, lane, value, mask))
    return UOp.sink(UOp.group(*stores), *ctx.inc_pc())


def move_relative(inst, ctx):
    """v_movrels, v_movreld: register M0 says how far behind the one that is named."""
    kind, name, lane = type(inst), emu._op_name(inst), ctx.range()
    source, to, far = ctx.inst_field(kind.src0), ctx.inst_field(kind.vdst), ctx.rsgpr_dyn(u32(M0))
    value = ctx.rvgpr_dyn(source - u32(256) + far, lane) if "MOVRELS" in name else ctx.rsrc_dyn(source, lane)
    store = ctx.wvgpr_dyn(to + far if "MOVRELD" in name else to, lane, value, ctx.rexec())
    return UOp.sink(store.end(lane), *ctx.inc_pc())


def index_on(inst, ctx):
    """s_set_gpr_idx_on of CDNA: in M0 stand how far behind and, from bit 12 on, of which operands."""
    kind = type(inst)
    far = ctx.rsrc_dyn(ctx.inst_field(kind.ssrc0), None) & u32(0xff)
    of = ctx.inst_field(kind.ssrc1) & u32(15)
    old = ctx.rsgpr_dyn(u32(M0_CDNA)) & u32(0xffff0f00)
    return UOp.sink(ctx.wsgpr_dyn(u32(M0_CDNA), old | far | of << u32(12)), ctx.wsgpr_dyn(u32(INDEXING), u32(1)), *ctx.inc_pc())


def index_off(inst, ctx):
    return UOp.sink(ctx.wsgpr_dyn(u32(INDEXING), u32(0)), *ctx.inc_pc())


def move_indexed(inst, ctx):
    """v_mov of CDNA, the only instruction that waves.c lets run while the mode is on."""
    kind, lane, mode = type(inst), ctx.range(), ctx.rsgpr_dyn(u32(M0_CDNA))
    source, to = ctx.inst_field(kind.src0), ctx.inst_field(kind.vdst)
    far = ctx.rsgpr_dyn(u32(INDEXING)) * (mode & u32(0xff))
    source = source + (source >= u32(256)).where(far * (mode >> u32(12) & u32(1)), u32(0))
    value = ctx.rsrc_dyn(source, lane, 32, ctx.optional_field(inst, "literal"))
    store = ctx.wvgpr_dyn(to + far * (mode >> u32(15) & u32(1)), lane, value, ctx.rexec())
    return UOp.sink(store.end(lane), *ctx.inc_pc())


def nothing(inst, ctx):
    return UOp.sink(*ctx.inc_pc())


def clock(ctx, register):
    return UOp.sink(ctx.wsgpr_dyn(register, ctx.rsgpr_dyn(u32(CLOCK))), ctx.wsgpr_dyn(register + u32(1), ctx.rsgpr_dyn(u32(CLOCK + 1))),
                    *ctx.inc_pc())


def jump(inst, ctx):
    """s_getpc, s_setpc, s_swappc: the emulator writes the register and does not jump."""
    name, to = emu._op_name(inst), ctx.inst_field(type(inst).sdst)
    target = emu._split64(ctx.rsrc_dyn(ctx.inst_field(type(inst).ssrc0), None, 64))
    after = emu._split64(ctx.rpc() + u64(ctx.inst_size))
    counter = after if "GETPC" in name else target
    stores = [ctx.wsgpr_dyn(u32(emu.PC_LO_IDX), counter[0]), ctx.wsgpr_dyn(u32(emu.PC_HI_IDX), counter[1])]
    if "SETPC" not in name:
        stores += [ctx.wsgpr_dyn(to, after[0]), ctx.wsgpr_dyn(to + u32(1), after[1])]
    return UOp.sink(*stores)


INDEXED = {"S_SET_GPR_IDX_ON": index_on, "S_SET_GPR_IDX_OFF": index_off, "V_MOV_B32_E32": move_indexed}


def own(inst):
    """Who makes an instruction that the emulator does not, or not right; None: the emulator."""
    name = emu._op_name(inst)
    if any(part in name for part in ("BUFFER_GL", "BUFFER_INV", "BUFFER_WBL2", "GLOBAL_INV", "GLOBAL_WB", "S_SLEEP")):
        return nothing
    if name == "DS_BPERMUTE_B32":
        return permute
    if "V_MOVRELS_B32" in name or "V_MOVRELD_B32" in name:
        return move_relative
    if name in INDEXED:
        return INDEXED[name] if type(inst).__module__.endswith("cdna.ins") else None
    if "ATOMIC_CMPSWAP" in name:
        return compare_and_swap
    if name in ("S_GETPC_B64", "S_SETPC_B64", "S_SWAPPC_B64"):
        return jump
    if name in ("S_MEMREALTIME", "S_MEMTIME"):
        return lambda inst, ctx: clock(ctx, ctx.inst_field(type(inst).sdata))
    if name == "S_SENDMSG_RTN_B64":
        return lambda inst, ctx: clock(ctx, ctx.inst_field(type(inst).sdst))
    return None


class Invalidate:
    """buffer_gl0_inv and buffer_gl1_inv of RDNA 3, which no format of the emulator's has."""
    class op:
        name = "BUFFER_GL_INV"

    def size(self):
        return 8


def decode(text, arch):
    if arch == "rdna3" and struct.unpack_from("<I", text)[0] in (0xe0ac0000, 0xe0b00000):
        return Invalidate()
    return decode_inst(text, arch)


handlers = dict(emu._INST_HANDLERS)


constant = emu._c


def beyond_halves(value, dtype=dtypes.uint32):
    return constant(1 << 20 if value in (128, 384) else value, dtype)


def make(inst, ctx):
    given = own(inst) or next(handlers[c] for c in type(inst).__mro__ if c in handlers)
    kind = type(inst).__name__
    if not type(inst).__module__.endswith("cdna.ins") or kind[:4] not in ("VOP1", "VOP2", "VOPC") or 16 not in inst.canonical_op_bits.values():
        return given(inst, ctx)
    # There the emulator takes registers from 128 on for upper halves, as RDNA 3 has them.
    emu._c = beyond_halves
    try:
        return given(inst, ctx)
    finally:
        emu._c = constant


emu.decode_inst = decode
emu._INST_HANDLERS = {kind: make for kind in [*handlers, Invalidate]}

plain = emu._Ctx
now = None  # the instruction that is being made


def context(size, wave=32):
    kind = {"FLAT": Flat, "DS": Shared}.get(type(now).__name__, plain)
    if emu._op_name(now) == "V_FMAC_F64_E64":
        kind = Accumulating
    return plain(size, wave) if kind is plain else kind(now, size, wave)


context._vgpr_cache, context._accvgpr_cache = plain._vgpr_cache, plain._accvgpr_cache
emu._Ctx = context

# -- functions ------------------------------------------------------------------------------------------------------------

class Function:
    """Of all instructions of one kind whose bits under the mask are these."""

    def __init__(self, gpu, kind, base, mask, size, flags, order, code):
        self.gpu, self.kind, self.base, self.mask, self.size = gpu, kind, base, mask, size
        self.flags, self.order, self.code = flags, order, code

    def fits(self, gpu, kind, size, word):
        return self.gpu == gpu and self.kind == kind and self.size == size and word & self.mask == self.base


functions = []
of_kind = {}  # (GPU, kind) -> numbers
exact = {}    # (GPU, bytes) -> number


def version():
    parts = [open(p, "rb").read() for p in (emu.__file__, pcode.__file__, __file__)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def add(function):
    functions.append(function)
    of_kind.setdefault((function.gpu, function.kind), []).append(len(functions) - 1)
    return len(functions) - 1


def restore():
    if KEPT and os.path.exists(KEPT):
        with open(KEPT, "rb") as f:
            if pickle.load(f) == version():
                for values in pickle.load(f):
                    add(Function(*values))


def save():
    if KEPT:
        with open(KEPT + ".new", "wb") as f:
            pickle.dump(version(), f)
            pickle.dump([(f.gpu, f.kind, f.base, f.mask, f.size, f.flags, f.order, f.code) for f in functions], f)
        os.rename(KEPT + ".new", KEPT)


def compile_function(gpu, inst, kind, text):
    global now
    now, before = inst, len(emu._canonical_runner_cache)
    program, _ = emu._get_runner(text + bytes(4), NAMES[gpu])
    if len(emu._canonical_runner_cache) == before:
        raise RuntimeError("an instruction that is known was not found")
    _, base, mask, size, _ = emu._canonical_runner_cache[-1]
    code = jit_loader(next(u.arg for u in program.src if u.op is Ops.BINARY), link_libs=[])
    name, order = emu._op_name(inst), bytes(program.arg.globals)
    flags = BARRIER if getattr(inst, "op", None) in emu._BARRIER_OPS else YIELDS if name == "S_SLEEP" else 0
    flags |= INDEXES if name in INDEXED or not kind.startswith("V") else 0
    return add(Function(gpu, kind, base, mask, size, flags, order + bytes(8 - len(order)), code))


def number_of(gpu, text):
    inst = decode(text, NAMES[gpu])
    kind, text = type(inst).__name__, text[:inst.size()]
    if (gpu, text) not in exact:
        word = int.from_bytes(text, "little")
        fitting = (n for n in of_kind.get((gpu, kind), ()) if functions[n].fits(gpu, kind, len(text), word))
        number = next(fitting, None)
        exact[gpu, text] = compile_function(gpu, inst, kind, text) if number is None else number
    return exact[gpu, text]


# -- those who ask --------------------------------------------------------------------------------------------------------

def receive(connection, n):
    got = b""
    while len(got) < n:
        part = connection.recv(n - len(got))
        if not part:
            return None
        got += part
    return got


def answer(connection, sent):
    """False: it has gone."""
    asked = receive(connection, 20)
    if asked is None:
        return False
    gpu, = struct.unpack_from("<I", asked)
    try:
        number = number_of(gpu, asked[4:])
        f = functions[number]
        code = b"" if number in sent else f.code
        sent.add(number)
        head = struct.pack("<IIII8s", f.size, f.flags, number, len(code), f.order)
    except Exception as e:  # an instruction that nobody has met before: the program that met it says so
        code = f"{type(e).__name__}: {e}".encode()
        head = struct.pack("<IIII8s", 0, 0, 0, len(code), bytes(8))
    connection.sendall(head + code)
    return True


def serve():
    restore()
    made = len(functions)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(PATH)
    listening.listen(64)
    waiting = selectors.DefaultSelector()
    waiting.register(listening, selectors.EVENT_READ, None)
    print(f"{made} functions of instructions are there", flush=True)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listening:
                connection, _ = listening.accept()
                waiting.register(connection, selectors.EVENT_READ, set())
                continue
            try:
                stays = answer(key.fileobj, key.data)
            except OSError:
                stays = False
            if not stays:
                waiting.unregister(key.fileobj)
                key.fileobj.close()
                if len(functions) > made:
                    save()
                    made = len(functions)


serve()

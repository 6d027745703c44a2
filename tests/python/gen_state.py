"""What the generator of kernels knows while it writes: random choices, arrays, variables, and which of them a statement may use."""

import random


class Array:
    """An array of the program. `hi`: integers in it are below that, and not negative."""

    def __init__(self, name, t, shape, element=(), active=False, kind="field", hi=None):
        self.name, self.t, self.shape, self.element, self.active, self.kind, self.hi = name, t, shape, element, active, kind, hi

    @property
    def type(self):
        """Of an element: a scalar type's name, or ("v", n, t), or ("m", n, m, t)."""
        return ("vm"[len(self.element) - 1], *self.element, self.t) if self.element else self.t


class Variable:
    """A local name. `hi`: an integer below that, and not negative. `fixed`: it is not assigned. `left`: an `if` has left it behind, so that an
    assignment of another type may make a new variable."""

    def __init__(self, name, t, hi=None, fixed=False, left=False):
        self.name, self.t, self.hi, self.fixed, self.left = name, t, hi, fixed, left


class Function:
    """A @func that the program has: types and names of its parameters, types of its result and of the variable that it changes. `loops`: at
    kernel level it would be a task. `default`: the last parameter has one."""

    def __init__(self, name, takes, gives, template=None, loops=False, names=(), default=False):
        self.name, self.takes, self.gives, self.template, self.loops = name, takes, gives, template, loops
        self.names, self.default = names, default


class Access:
    """How code may use an array: its name there, and the index of its own elements: by axis (None: any), or one text for all axes."""

    def __init__(self, array, name, own=None):
        self.array, self.name, self.own = array, name, own


class Scope:
    """What code at one place may use."""

    def __init__(self, program, parallel=False):
        self.program, self.parallel = program, parallel
        self.variables = []
        self.reads, self.writes, self.adds = [], [], []  # of Access
        self.sums = []  # (variable, operator) of the kernel that all threads change
        self.loops = self.control = 0  # run-time loops, and blocks, that are open
        self.breaks = False  # whether the innermost loop can be left
        self.returns = None  # what writes a return here; None: none may stand here
        self.taken = set()  # all names of the function, dead ones too
        self.functions = list(program.functions)
        self.named = []  # constants known here: (text, type)

    def callable(self, wanted):
        """Functions that may be called here."""
        return [f for f in self.functions if (self.parallel or self.control or not f.loops) and wanted(f)]

    def inner(self):
        """The scope of a thread: variables of the kernel can be read only."""
        made = Scope(self.program, parallel=True)
        made.variables = [Variable(v.name, v.t, v.hi, True) for v in self.variables]
        made.taken, made.functions, made.named = self.taken, self.functions, self.named
        return made


class Random:
    """Random choices."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, items):
        return self.random.choice(items)

    def below(self, n):
        return self.random.randrange(n)

    def weighted(self, *pairs):
        """One of the values by their weights: (weight, value)."""
        return self.random.choices([v for _, v in pairs], [w for w, _ in pairs])[0]


REALS, INTEGERS = ("f64", "f32"), ("i32", "i64", "u8")


def is_real(t):
    return t in REALS


def is_integer(t):
    return t in INTEGERS

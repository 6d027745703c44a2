#!/usr/bin/env python3
"""Writes gold/ from inputs/: the evals' formulas once more, without loops that were made to be fast, and
their derivatives by complex steps, which are exact to rounding. SPDX-License-Identifier: Apache-2.0"""
import cmath
import json
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
STEP = 1e-30


def read(name):
    with open(f"{HERE}/inputs/{name}.json") as file:
        return json.load(file)


def write(name, eval_name, function, output):
    gold = {"eval": eval_name, "input": f"inputs/{name}.json", "function": function, "output": output}
    with open(f"{HERE}/gold/{name}_{function.replace('|', '_')}.json", "w") as file:
        json.dump(gold, file)
        file.write("\n")


def partial(function, x, k):
    """d function / d x[k], of a list of outputs"""
    at = [complex(v) for v in x]
    at[k] += STEP * 1j
    return [complex(v).imag / STEP for v in function(at)]


def gradient(function, x):
    return [partial(lambda y: [function(y)], x, k)[0] for k in range(len(x))]


def flat(rows):
    return [v for row in rows for v in row]


def rows_of(values, columns):
    return [values[k:k + columns] for k in range(0, len(values), columns)]


def log_sum_exp(values):
    top = max(complex(v).real for v in values)
    return top + cmath.log(sum(cmath.exp(v - top) for v in values))


# -- gmm ------------------------------------------------------------------------------------------------


def log_gamma(a, d):
    return 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(a + 0.5 * (1 - j)) for j in range(1, d + 1))


def gmm_terms(i, d, x, mu, q, l):
    columns = [[0] * d for _ in range(d)]
    below = iter(l)
    for j in range(d):
        columns[j][j] = cmath.exp(q[j])
        for r in range(j + 1, d):
            columns[j][r] = next(below)
    off = [x[i][j] - mu[j] for j in range(d)]
    return sum(sum(columns[j][r] * off[j] for j in range(d)) ** 2 for r in range(d))


def gmm(i, v):
    d, k, n, g, m = i["d"], i["k"], i["n"], i["gamma"], i["m"]
    size = d * (d - 1) // 2
    alpha, v = v[:k], v[k:]
    mu, v = rows_of(v[:k * d], d), v[k * d:]
    q, l = rows_of(v[:k * d], d), rows_of(v[k * d:], size)
    err = -n * d / 2 * math.log(2 * math.pi) - n * log_sum_exp(alpha)
    for p in range(n):
        err += log_sum_exp([alpha[c] + sum(q[c]) - 0.5 * gmm_terms(p, d, i["x"], mu[c], q[c], l[c]) for c in range(k)])
    for c in range(k):
        squares = sum(cmath.exp(2 * e) for e in q[c]) + sum(e * e for e in l[c])
        err -= 0.5 * g * g * squares - m * sum(q[c])
    df = d + m + 1
    return err + k * (df * d * (math.log(g) - 0.5 * math.log(2)) - log_gamma(df / 2, d))


def make_gmm():
    i = read("gmm")
    k, d = i["k"], i["d"]
    v = i["alpha"] + flat(i["mu"]) + flat(i["q"]) + flat(i["l"])
    write("gmm", "gmm", "objective", gmm(i, v).real)
    g = gradient(lambda y: gmm(i, y), v)
    jacobian = {"alpha": g[:k], "mu": rows_of(g[k:k + k * d], d), "q": rows_of(g[k + k * d:k + 2 * k * d], d),
                "l": rows_of(g[k + 2 * k * d:], d * (d - 1) // 2)}
    write("gmm", "gmm", "jacobian", jacobian)


# -- lstm -----------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + cmath.exp(-x))


def lstm(i, v):
    bits, rows = len(i["sequence"][0]), len(i["main_params"])
    main = [rows_of(row, bits) for row in rows_of(v[:rows * 4 * bits], 4 * bits)]
    extra, state = rows_of(v[rows * 4 * bits:], bits), [list(row) for row in i["state"]]
    total = count = 0
    for now, after in zip(i["sequence"], i["sequence"][1:]):
        guess = []
        for j in range(bits):
            y = now[j] * extra[0][j]
            for layer in range(0, rows, 2):
                w, b, h = main[layer], main[layer + 1], state[layer][j]
                keep, let = sigmoid(y * w[0][j] + b[0][j]), sigmoid(h * w[1][j] + b[1][j])
                out, change = sigmoid(y * w[2][j] + b[2][j]), cmath.tanh(h * w[3][j] + b[3][j])
                state[layer + 1][j] = state[layer + 1][j] * keep + let * change
                y = state[layer][j] = out * cmath.tanh(state[layer + 1][j])
            guess.append(y * extra[1][j] + extra[2][j])
        norm = cmath.log(2 + sum(cmath.exp(g) for g in guess))
        total += sum(a * (g - norm) for a, g in zip(after, guess))
        count += bits
    return -total / count


def make_lstm():
    i = read("lstm")
    v = flat(i["main_params"]) + flat(i["extra_params"])
    write("lstm", "lstm", "objective", lstm(i, v).real)
    write("lstm", "lstm", "jacobian", gradient(lambda y: lstm(i, y), v))


# -- ba -------------------------------------------------------------------------------------------------


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def rotate(r, p):
    theta = cmath.sqrt(sum(e * e for e in r))
    if theta == 0:
        return [a + b for a, b in zip(p, cross(r, p))]
    w = [e / theta for e in r]
    along = sum(a * b for a, b in zip(w, p)) * (1 - cmath.cos(theta))
    return [p[k] * cmath.cos(theta) + cross(w, p)[k] * cmath.sin(theta) + w[k] * along for k in range(3)]


def ba(i, v):
    cam, point, w = v[:11], v[11:14], v[14]
    at = rotate(cam[:3], [a - b for a, b in zip(point, cam[3:6])])
    u = [at[0] / at[2], at[1] / at[2]]
    s = u[0] * u[0] + u[1] * u[1]
    bend = 1 + cam[9] * s + cam[10] * s * s
    return [w * (cam[6] * u[k] * bend + cam[7 + k] - i["feat"][k]) for k in range(2)]


def make_ba(name):
    i = read(name)
    n, m, p = i["n"], i["m"], i["p"]
    v = i["cam"] + i["x"] + [i["w"]]
    errors = {"elements": [complex(e).real for e in ba(i, v)], "repeated": p}
    write(name, "ba", "objective", {"reproj_error": errors, "w_err": {"element": 1 - i["w"] ** 2, "repeated": p}})
    columns = [partial(lambda y: ba(i, y), v, k) for k in range(15)]
    rows, cols, vals = [0], [], []
    for o in range(p):
        own = [11 * (o % n) + k for k in range(11)] + [11 * n + 3 * (o % m) + k for k in range(3)]
        for row in range(2):
            cols += own + [11 * n + 3 * m + o]
            vals += [c[row] for c in columns]
            rows.append(len(cols))
    for o in range(p):
        cols.append(11 * n + 3 * m + o)
        vals.append(-2 * i["w"])
        rows.append(len(cols))
    write(name, "ba", "jacobian", {key: v[:30] + v[-1:] for key, v in (("rows", rows), ("cols", cols), ("vals", vals))})


# -- ht -------------------------------------------------------------------------------------------------


def times(a, b):
    return [[sum(a[r][k] * b[k][c] for k in range(4)) for c in range(4)] for r in range(4)]


def about(axis, angle):
    c, s = cmath.cos(angle), cmath.sin(angle)
    a, b = (axis + 1) % 3, (axis + 2) % 3
    m = [[float(r == c) for c in range(4)] for r in range(4)]
    m[a][a] = m[b][b] = c
    m[a][b], m[b][a] = -s, s
    return m


def ht(i, theta, us):
    model, data = i["data"]["model"], i["data"]
    bones = model["bone_count"]
    angles = [[0, 0, 0] for _ in range(bones + 3)]
    at, row = 6, 5
    for _ in range(5):
        for joint in range(3):
            if row < len(angles):
                angles[row][0] = theta[at]
                angles[row][1] = theta[at + 1] if joint == 0 else 0
            at += 2 if joint == 0 else 1
            row += 1
        row += 1
    absolute, final = [], []
    for b in range(bones):
        tx, tz, ty = angles[b + 3]
        own = times(model["base_relatives"][b], times(about(2, tz), times(about(1, ty), about(0, tx))))
        parent = model["parents"][b]
        absolute.append(own if parent == -1 else times(absolute[parent], own))
        final.append(times(absolute[b], model["inverse_base_absolutes"][b]))

    def place(v):
        at = [0, 0, 0]
        for b in range(bones):
            for k in range(3):
                moved = sum(final[b][k][j] * model["base_positions"][v][j] for j in range(4))
                at[k] += model["weights"][v][b] * moved
        if model["is_mirrored"]:
            at[0] = -at[0]
        return [a + b for a, b in zip(rotate(theta[:3], at), theta[3:6])]

    errors = []
    for k, c in enumerate(data["correspondences"]):
        if us:
            corners = [place(v) for v in model["triangles"][c]]
            shares = [us[k][0], us[k][1], 1 - us[k][0] - us[k][1]]
        else:
            corners, shares = [place(c)], [1]
        errors += [p - sum(s * a[j] for s, a in zip(shares, corners)) for j, p in enumerate(data["points"][k])]
    return errors


def make_ht(name):
    i = read(name)
    theta, us = i["theta"], i["us"]
    write(name, "ht", "objective", [complex(e).real for e in ht(i, theta, us)])
    columns = []
    for k in range(2 if us else 0):
        moved = [[v + STEP * 1j * (c == k) for c, v in enumerate(row)] for row in us]
        columns.append([complex(e).imag / STEP for e in ht(i, theta, moved)])
    columns += [partial(lambda y: ht(i, y, us), theta, k) for k in range(26)]
    write(name, "ht", "jacobian", [list(row) for row in zip(*columns)])


# -- descents -------------------------------------------------------------------------------------------


def descend(f, slope, x):
    norm = lambda v: math.sqrt(sum(e * e for e in v))
    value, g, rate, good = f(x), slope(x), 1e-5, 0
    while norm(g) > 1e-5:
        if good == 10:
            rate, good = 2 * rate, 0
            continue
        after = [a - rate * b for a, b in zip(x, g)]
        if norm([a - b for a, b in zip(x, after)]) <= 1e-5:
            break
        there = f(after)
        if there < value:
            x, value, g, good = after, there, slope(after), good + 1
        else:
            rate, good = rate / 2, 0
    return x


def landing(w):
    at, v = [0, 8], [0.75, 0]
    while True:
        pull = [0, 0]
        for charge in ((10, 10 - w), (10, 0)):
            off = [a - b for a, b in zip(at, charge)]
            cube = (off[0] * off[0] + off[1] * off[1]) ** 1.5
            pull = [a + b / cube for a, b in zip(pull, off)]
        at = [a + 0.1 * b for a, b in zip(at, v)]
        if at[1].real <= 0:
            return (at[0] - at[1] / v[1] * v[0]) ** 2
        v = [a + 0.1 * b for a, b in zip(v, pull)]


def make_descents():
    modes = "rr|rf|fr|ff"
    fall = lambda x: complex(landing(complex(x[0]))).real
    slope = lambda x: gradient(lambda y: landing(y[0]), x)
    write("particle", "particle", modes, descend(fall, slope, [read("particle")["w"]])[0])
    start, square = read("saddle")["start"], lambda v: v[0] * v[0] + v[1] * v[1]
    greatest = lambda p: square(p) - square(descend(square, twice, start))
    twice = lambda v: [2 * e for e in v]
    write("saddle", "saddle", modes, descend(greatest, twice, start) + descend(square, twice, start))


# -- the small ones -------------------------------------------------------------------------------------


def det(size, a):
    if size == 0:
        return 1
    minor = lambda j: [a[r * size + c] for r in range(1, size) for c in range(size) if c != j]
    return sum((-1) ** j * a[j] * det(size - 1, minor(j)) for j in range(size))


def kmeans(i, v):
    cost = 0
    for p in i["points"]:
        squares = [sum((a - b) ** 2 for a, b in zip(p, c)) for c in rows_of(v, len(p))]
        cost += min(squares, key=lambda s: complex(s).real)
    return cost


def kmeans_step(i):
    step = []
    for c in i["centroids"]:
        nearest = lambda p: min(i["centroids"], key=lambda o: math.dist(p, o))
        own = [p for p in i["points"] if nearest(p) is c]
        step.append([v - sum(p[k] for p in own) / len(own) for k, v in enumerate(c)])
    return step


def llsq(i, x):
    total = 0
    for k in range(i["n"]):
        t = -1 + 2 * k / (i["n"] - 1)
        total += ((t > 0) - (t < 0) - sum(c * t ** j for j, c in enumerate(x))) ** 2
    return total / 2


def ode(i, x):
    slope = lambda y: [c * (y[k - 1] if k else 1) for k, c in enumerate(x)]
    plus = lambda y, h, k: [a + h * b for a, b in zip(y, k)]
    y, h = [0] * len(x), 2 / i["s"]
    for _ in range(i["s"]):
        k1 = slope(y)
        k2 = slope(plus(y, h / 2, k1))
        k3 = slope(plus(y, h / 2, k2))
        k4 = slope(plus(y, h, k3))
        y = [y[k] + h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]) for k in range(len(x))]
    return y


def make_small():
    i = read("hello")
    write("hello", "hello", "square", i * i)
    write("hello", "hello", "double", 2 * i)
    for name, function, key in (("det", lambda i, x: det(i["ell"], x), "A"), ("llsq", llsq, "x"),
                                ("lse", lambda i, x: log_sum_exp(x), "x")):
        i = read(name)
        write(name, name, "primal", complex(function(i, i[key])).real)
        write(name, name, "gradient", gradient(lambda y: function(i, y), i[key]))
    i = read("kmeans")
    write("kmeans", "kmeans", "cost", kmeans(i, flat(i["centroids"])))
    write("kmeans", "kmeans", "dir", kmeans_step(i))
    i = read("ode")
    write("ode", "ode", "primal", ode(i, i["x"]))
    write("ode", "ode", "gradient", gradient(lambda y: ode(i, y)[-1], i["x"]))


if __name__ == "__main__":
    make_small()
    make_descents()
    make_gmm()
    make_lstm()
    make_ba("ba")
    make_ba("ba_turned")
    make_ht("ht")
    make_ht("ht_simple")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which PTX instruction forms the emulator takes: one small module per form of a table (opcode<TAB>form<TAB>count...).

    scripts/emulator_coverage.py build/emulator/libtenon_emulator.so ptx_opcodes.tsv

Operands are made up from the form's types; a form is covered when its module loads. Prints the forms that are refused.
"""
import ctypes
import os
import sys

BITS = {'pred': 0, 'b8': 8, 'u8': 8, 's8': 8, 'b16': 16, 'u16': 16, 's16': 16, 'f16': 16, 'bf16': 16, 'b32': 32, 'u32': 32,
        's32': 32, 'f32': 32, 'f16x2': 32, 'bf16x2': 32, 'u16x2': 32, 'tf32': 32, 'b64': 64, 'u64': 64, 's64': 64, 'f64': 64}
REG = {0: '%p', 8: '%h', 16: '%h', 32: '%r', 64: '%d'}
SOURCES = {'add': 2, 'sub': 2, 'mul': 2, 'div': 2, 'rem': 2, 'min': 2, 'max': 2, 'and': 2, 'or': 2, 'xor': 2, 'copysign': 2,
           'mad': 3, 'fma': 3, 'sad': 3, 'addc': 2, 'subc': 2, 'madc': 3, 'abs': 1, 'neg': 1, 'not': 1, 'bmsk': 2, 'prmt': 3}


def operands(op, mods):
    types = [m for m in mods if m in BITS]
    t = types[-1] if types else 'b32'
    reg = lambda n, ty=None: REG[BITS[ty or t]] + str(n)
    if op in ('mul', 'mad') and 'wide' in mods:
        wide = REG[2 * BITS[t]]
        return f'{wide}1, {reg(2)}, {reg(3)}' + (f', {wide}4' if op == 'mad' else '')
    if op in SOURCES:
        return ', '.join(reg(k) for k in range(1, SOURCES[op] + 2))
    if op == 'mov':
        return f'{reg(1)}, {reg(2)}'
    if op == 'cvta':
        return '%d1, %d2'
    if op in ('ld', 'ldu', 'st', 'red', 'atom'):
        count = next((int(m[1]) for m in mods if m in ('v2', 'v4', 'v8')), 1)
        value = reg(1) if count == 1 else '{' + ', '.join(reg(k) for k in range(1, count + 1)) + '}'
        space = next((m for m in mods if m in ('shared', 'local', 'param', 'const')), '')
        base = {'param': '[arg]' if op == 'ld' else '[par]', 'shared': '[%r9]', 'local': '[%d9]'}.get(space, '[%d9]')
        if op == 'ld':
            return f'{value}, {base}'
        if op == 'st':
            return f'{base}, {value}'
        return (f'{reg(1)}, ' if op == 'atom' else '') + f'[%d9], {reg(2)}' + (f', {reg(3)}' if 'cas' in mods else '')
    if op == 'setp':
        return f'%p1, {reg(2)}, {reg(3)}'
    if op == 'set':
        return f'{reg(1, types[0])}, {reg(2)}, {reg(3)}'
    if op == 'selp':
        return f'{reg(1)}, {reg(2)}, {reg(3)}, %p1'
    if op in ('shl', 'shr'):
        return f'{reg(1)}, {reg(2)}, %r3'
    if op in ('popc', 'clz', 'bfind'):
        return f'%r1, {reg(2)}'
    if op == 'cvt':
        pair = types[0] in ('f16x2', 'bf16x2')
        return f'{reg(1, types[0])}, {reg(2)}' + (f', {reg(3)}' if pair else '')
    if op == 'bfi':
        return f'{reg(1)}, {reg(2)}, {reg(3)}, %r4, %r5'
    if op == 'shfl':
        return '%r1, %r2, %r3, %r4' + (', -1' if 'sync' in mods else '')
    if op == 'vote':
        return ('%r1' if 'ballot' in mods else '%p1') + ', %p2, -1'
    if op == 'match':
        return f'%r1, {reg(2)}, -1'
    if op == 'redux':
        return '%r1, %r2, -1'
    if op == 'elect':
        return '%r1|%p1, -1'
    if op == 'isspacep':
        return '%p1, %d2'
    if op in ('bar', 'barrier'):
        if 'cluster' in mods:
            return ''
        if 'warp' in mods:
            return '-1'
        if 'red' in mods:
            return ('%r1' if 'popc' in mods else '%p1') + ', 0, %p2'
        return '1, 64' if 'arrive' in mods else '0'
    if op == 'bra':
        return 'END'
    if op == 'call':
        return 'f'
    if op == 'shf':
        return '%r1, %r2, %r3, %r4'
    if op == 'lop3':
        return '%r1, %r2, %r3, %r4, 0xca'
    if op == 'dp4a':
        return '%r1, %r2, %r3, %r4'
    if op == 'mapa':
        return f'{reg(1)}, {reg(2)}, %r3'
    if op == 'getctarank':
        return f'%r1, {reg(2)}'
    if op == 'setmaxnreg':
        return '40'
    if op == 'prefetch':
        return '[%d1]'
    if op == 'wgmma':
        if mods[0] != 'mma_async':
            return '0' if mods[0] == 'wait_group' else ''
        shape = next(m for m in mods if m.startswith('m64'))
        n = int(shape[4:shape.index('k')]) // (4 if mods[4] == 'f16' else 2)
        tail = '' if mods[5] in ('s8', 'u8') else ', 1, 1, 0, 0' if mods[5] in ('f16', 'bf16') else ', 1, 1'
        return '{' + ', '.join(f'%q{k}' for k in range(n)) + '}, %d1, %d2, %p1' + tail
    if op == 'cp' and 'bulk' in mods:
        if 'commit_group' in mods or 'wait_group' in mods:
            return '0' if 'wait_group' in mods else ''
        hint = (', %h1' if 'multicast::cluster' in mods else '') + (', %d3' if 'L2::cache_hint' in mods else '')
        dims = next((int(m[0]) for m in mods if m in ('1d', '2d', '3d', '4d', '5d')), 0)
        if dims:
            box = '[%d1, {' + ', '.join(f'%r{k}' for k in range(dims)) + '}]'
            return (f'{box}, [%r9]' if 'bulk_group' in mods else f'[%r9], {box}, [%r8]') + hint
        return ('[%d1], [%r9], %r1' if 'bulk_group' in mods else '[%r9], [%d1], %r1, [%r8]') + hint
    if op == 'cp':
        if mods[1:2] and mods[1] in ('cg', 'ca'):
            return '[%r1], [%d2], 16'
        if mods[1] == 'mbarrier':
            return '[%r9]'
        return '1' if mods[-1] == 'wait_group' else ''
    if op == 'ldmatrix':
        n = next(int(m[1]) for m in mods if m in ('x1', 'x2', 'x4'))
        return '{' + ', '.join(f'%r{k}' for k in range(1, n + 1)) + '}, [%r9]'
    if op == 'mma':
        k8 = 'm16n8k8' in mods and 'tf32' not in mods
        a = '{%r1, %r2}' if k8 else '{%r1, %r2, %r3, %r4}'
        return '{%r1, %r2, %r3, %r4}, ' + a + (', {%r5}' if k8 else ', {%r5, %r6}') + ', {%r1, %r2, %r3, %r4}'
    if op == 'wmma':
        registers = lambda n, kind='%r': '{' + ', '.join(f'{kind}{k % 12}' for k in range(n)) + '}'
        count = {'f16': 8, 'bf16': 4, 's8': 2, 'u8': 2, 'tf32': 4}
        if mods[0] == 'mma':
            t = types[1] if len(types) == 4 else 'f16'
            c = registers(4 if types[0] == 'f16' else 8)
            return f'{c}, {registers(count[t])}, {registers(count[t])}, {c}'
        n = count[t] if mods[1] in 'ab' else 4 if t == 'f16' else 8
        return f'[%d9], {registers(n)}, %r1' if mods[0] == 'store' else f'{registers(n)}, [%d9], %r1'
    if op == 'mbarrier':
        if mods[0] in ('test_wait', 'try_wait'):
            return '%p1, [%r9], ' + ('%r1' if 'parity' in mods else '%d1')
        if mods[0] == 'arrive':
            return '%d1, [%r9]' + (', %r1' if {'expect_tx', 'noComplete'} & set(mods) else '')
        return '[%r9]' + (', %r1' if mods[0] != 'inval' else '')
    if op in ('ret', 'exit', 'trap', 'brkpt', 'membar', 'fence'):
        return ''
    if op == 'activemask':
        return '%r1'
    if op == 'nanosleep':
        return '%r1'
    return ', '.join(reg(k) for k in (1, 2))


def main():
    library, table = sys.argv[1], sys.argv[2]
    os.environ.setdefault('TENON_EMULATOR_QUIET', '1')
    cuda = ctypes.CDLL(library)
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxPushCurrent_v2(context):
        sys.exit('the emulator does not start')
    taken, refused, uses, takenUses = 0, [], 0, 0
    for line in open(table):
        parts = line.rstrip('\n').split('\t')
        if line.startswith('#') or parts[0] in ('opcode', 'DIRECTIVE', 'SREG') or len(parts) < 3:
            continue
        form, count = parts[1], int(parts[2])
        op, *mods = form.split('.')
        body = f'{form} {operands(op, mods)};'
        text = ('.version 8.0\n.target sm_90a\n.address_size 64\n.func f() { ret; }\n.visible .entry k(.param .align 16 .b8 arg[32])\n{\n'
                '.reg .pred %p<12>; .reg .b16 %h<12>; .reg .b32 %r<12>; .reg .b32 %q<128>; .reg .b64 %d<12>;\n.param .align 16 .b8 par[32];\n'
                f'{body}\nEND:\nret;\n}}\n')
        uses += count
        if cuda.cuModuleLoadData(ctypes.byref(module), text.encode()) == 0:
            taken += 1
            takenUses += count
            cuda.cuModuleUnload(module)
        else:
            refused.append((count, form))
    total = taken + len(refused)
    print(f'{taken} of {total} forms, {takenUses} of {uses} uses ({100 * takenUses / max(1, uses):.2f} %)')
    for count, form in sorted(refused, reverse=True):
        print(f'{count:7d} {form}')


if __name__ == '__main__':
    main()

import { describe, expect, it } from 'vitest';
import {
  withPlainStrings,
  withPureDefinitions,
  withSkippableFunctions,
} from '../../scripts/build/quick-import.ts';

describe('functions that the compiler can skip', () => {
  it.each([
    ['const f = (a, b) => a + b;', 'const f = function(a, b) { return a + b; };'],
    ['const f = a => { g(a); };', 'const f = function(a) { g(a); };'],
    ['const f = async ({ a }) => a;', 'const f = async function({ a }) { return a; };'],
    ['const f = () => ({ a: 1 });', 'const f = function() { return ({ a: 1 }); };'],
    ['const f = (a = () => 1) => a;', 'const f = function(a = () => 1) { return a; };'],
    ['const f = (a) => (b) => a + b;', 'const f = function(a) { return (b) => a + b; };'],
    ['const o = { a: { b: (c) => c } };', 'const o = { a: { b: function(c) { return c; } } };'],
  ])('are written for arrow functions of the top level: %s', (code, expected) => {
    expect(withSkippableFunctions(code)).toBe(expected);
  });

  it.each([
    'const table = (() => make())();',
    'const squares = [1, 2].map((a) => a * a);',
    'function f() { const g = () => 1; return { h: () => g }; }',
  ])('are not written for code that runs at once, nor inside of functions: %s', (code) => {
    expect(withSkippableFunctions(code)).toBe(code);
  });
});

describe('pure definitions', () => {
  it('are marked for calls at the top level, and for no others', () => {
    const code = 'const a = new Set(list()); function f() { g(); }';
    expect(withPureDefinitions(code)).toBe(
      'const a = (/* @__PURE__ */ new Set((/* @__PURE__ */ list()))); function f() { g(); }',
    );
  });
});

describe('plain strings', () => {
  it('are written for templates without expressions, with the same text', () => {
    const code = 'const a = tag`1`; const b = `"two"\\n\\`\n\\u00e8`;';
    expect(withPlainStrings(code)).toBe('const a = tag`1`; const b = "\\"two\\"\\n`\\n\\u00e8";');
  });

  it('are not written for tagged templates', () => {
    const code = 'const a = String.raw`\\p{L}`;';
    expect(withPlainStrings(code)).toBe(code);
  });
});

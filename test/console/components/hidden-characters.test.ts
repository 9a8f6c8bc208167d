import { describe, expect, it } from 'vitest'
import { splitHidden, toVisible } from '../../../console/components/hidden-characters.ts'

describe('toVisible', () => {
  it.each([
    ['invoice\u202egpj.exe', 'invoice[U+202E]gpj.exe'],
    ['a\u2066b\u2069c\u061c\u200e\u200f', 'a[U+2066]b[U+2069]c[U+061C][U+200E][U+200F]'],
    ['pay\u200bpal\ufeff', 'pay[U+200B]pal[U+FEFF]'],
    ['ad\u200dmin', 'ad[U+200D]min'],
    ['\u0000\u001b[31m\u0085', '[U+0000][U+001B][31m[U+0085]'],
    ['Hello\u{e0061}\u{e0062}!', 'Hello[tags: ab]!'],
    ['x\u{e0100}', 'x[U+E0100]'],
    ['x\u{e0067}\u{e0062}\u{e007f}', 'x[tags: gb][U+E007F]'],
    ['🏴\u{e0067}\u{e0062}x', '🏴[tags: gb]x'],
  ])('shows what is hidden: %j', (text, shown) => {
    expect(toVisible(text)).toBe(shown)
  })

  it.each([
    'Zwei Zeilen\r\nmit\tTabulator\n',
    'مرحبا, می\u200cخواهم',
    'שלום world',
    'क्\u200dष',
    '👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👩🏽\u200d💻',
    '葛\u{e0100}城',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ])('leaves what belongs to the writing: %j', (text) => {
    expect(toVisible(text)).toBe(text)
  })
})

describe('splitHidden', () => {
  it('names the tokens, and keeps the order', () => {
    expect(splitHidden('a\u202eb')).toEqual(['a', { label: 'U+202E', name: 'right-to-left override' }, 'b'])
    expect(splitHidden('')).toEqual([])
  })

  it('takes a moment for a text of many of them', () => {
    expect(splitHidden('\u202ea'.repeat(50_000))).toHaveLength(100_000)
  })
})

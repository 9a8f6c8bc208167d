import { describe, expect, it } from 'vitest'
import { parseInlines, parseMarkdown } from '../../../console/components/markdown-blocks.ts'
import { HOSTILE_STRINGS } from '../../browser/stub/hostile-strings.ts'

describe('parseMarkdown', () => {
  it('finds the blocks that models write', () => {
    const text = `# Refund

First line
second line

- one
- two
  - nested

1. a
2. b

> quoted

\`\`\`ts
const a = '# no heading'
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

---`
    expect(parseMarkdown(text)).toEqual([
      { kind: 'heading', level: 1, inlines: ['Refund'] },
      { kind: 'paragraph', inlines: ['First line\nsecond line'] },
      {
        ...{ kind: 'list', isOrdered: false, start: 1 },
        items: [
          [{ kind: 'paragraph', inlines: ['one'] }],
          [
            { kind: 'paragraph', inlines: ['two'] },
            {
              ...{ kind: 'list', isOrdered: false, start: 1 },
              items: [[{ kind: 'paragraph', inlines: ['nested'] }]],
            },
          ],
        ],
      },
      {
        ...{ kind: 'list', isOrdered: true, start: 1 },
        items: [[{ kind: 'paragraph', inlines: ['a'] }], [{ kind: 'paragraph', inlines: ['b'] }]],
      },
      { kind: 'quote', blocks: [{ kind: 'paragraph', inlines: ['quoted'] }] },
      { kind: 'code', text: "const a = '# no heading'" },
      { kind: 'table', head: [['a'], ['b']], rows: [[['1'], ['2']]] },
      { kind: 'rule' },
    ])
  })

  it('ends with a fence, a list or a table that does not', () => {
    for (const text of ['```\na', '- a\n\n', '- ', '| a |\n|---|', '> ', '1. a\n\n\nb'])
      expect(parseMarkdown(text).length).toBeGreaterThan(0)
  })

  it('takes a moment for any text', () => {
    for (const part of ['> ', '- ', '**', '[](', '`', '| a ', '_a*', '  - a\n', '```\n'])
      expect(parseMarkdown(part.repeat(10_000))).toBeDefined()
  })
})

describe('parseInlines', () => {
  it('finds emphasis, code and links', () => {
    expect(
      parseInlines('**bold** and *em*, `code`, [site](https://a.example/x "t"), snake_case_name'),
    ).toEqual([
      { kind: 'strong', inlines: ['bold'] },
      ' and ',
      { kind: 'em', inlines: ['em'] },
      ', ',
      { kind: 'code', text: 'code' },
      ', ',
      { kind: 'link', href: 'https://a.example/x', inlines: ['site'] },
      ', snake_case_name',
    ])
  })

  it('links nothing but https', () => {
    for (const href of ['javascript:alert(1)', 'data:text/html,x', 'http://a.example', '//a.example', 'x'])
      expect(JSON.stringify(parseInlines(`[a](${href}) ![b](${href})`))).not.toContain('"link"')
    for (const hostile of HOSTILE_STRINGS)
      expect(JSON.stringify(parseMarkdown(`[a](${hostile}) ${hostile}`))).not.toMatch(/"href":"(?!https:)/)
  })
})

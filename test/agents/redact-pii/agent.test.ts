import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import run from '../../../agents/redact-pii/agent.ts'

const TEXT = `Anna <anna@example.org>, +44 20 7946 0958, card 4111 1111 1111 1111,
IBAN DE89 3704 0044 0532 0130 00, SSN 123-45-6789, from 192.0.2.1:80 and [2001:db8::1]:80.`

const REDACTED = `Anna <[EMAIL_ADDRESS]>, [PHONE_NUMBER], card [PAYMENT_CARD],
IBAN [IBAN], SSN [US_SSN], from [IPV4_ADDRESS]:80 and [[IPV6_ADDRESS]]:80.`

describe('run', () => {
  it('replaces each kind of entity and leaves the rest', () => {
    expect(run({ content: TEXT }).redactedContent).toBe(REDACTED)
  })

  it('gives offsets into the content in UTF-16 code units, without the text found', () => {
    const content = '😀 anna@example.org, 192.0.2.1'
    expect(run({ content }).entities).toEqual([
      { type: 'EMAIL_ADDRESS', start: 3, end: 19, replacement: '[EMAIL_ADDRESS]' },
      { type: 'IPV4_ADDRESS', start: 21, end: 30, replacement: '[IPV4_ADDRESS]' },
    ])
    expect(content.slice(3, 19)).toBe('anna@example.org')
  })

  it('gives overlapping finds to the more telling type', () => {
    const typesOf = (content: string) => run({ content }).entities.map(({ type }) => type)
    expect(typesOf('1.2.3.4@example.org')).toEqual(['EMAIL_ADDRESS'])
    expect(typesOf('::ffff:192.0.2.1')).toEqual(['IPV6_ADDRESS'])
    expect(typesOf('+4415-555-2671@example.org')).toEqual(['EMAIL_ADDRESS'])
    expect(typesOf('GB29 NWBK 6016 1331 9268 19')).toEqual(['IBAN'])
  })

  it('leaves placeholders, and takes no keyword from them', () => {
    const content = '[US_SSN] 123456789 [PHONE_NUMBER] 4155552671'
    expect(run({ content })).toEqual({ redactedContent: content, entities: [] })
  })

  it('leaves a text without personal data, and the empty text', () => {
    for (const content of ['', 'Nothing to see here.', '\u0000\ud800'])
      expect(run({ content })).toEqual({ redactedContent: content, entities: [] })
  })

  test.each([[undefined], [null], [42], [['a@b.co']], [{}]])(
    'refuses the content %j by a TypeError',
    (content) => {
      expect(() => run({ content } as never)).toThrow(/^The input's "content" must be a string/)
      expect(() => run({ content } as never)).toThrow(TypeError)
    },
  )

  it('refuses a missing input by a TypeError', () => {
    expect(() => run(undefined as never)).toThrow(TypeError)
  })
})

describe('agent.md', () => {
  const [, frontMatter = ''] = readFileSync('agents/redact-pii/agent.md', 'utf8').split(/^---$/m)
  const { input, output, code } = parse(frontMatter)

  it('declares what run takes and gives', () => {
    const result = run({ content: TEXT })
    expect(code).toBe(true)
    expect(Object.keys(input)).toEqual(['content'])
    expect(Object.keys(output)).toEqual(Object.keys(result))
    expect(Object.keys(output.entities.items.properties).sort()).toEqual(
      Object.keys(result.entities[0] ?? {}).sort(),
    )
  })

  it('lists every type', () => {
    const types = new Set(run({ content: TEXT }).entities.map(({ type }) => type))
    expect(new Set(output.entities.items.properties.type.enum)).toEqual(types)
  })
})

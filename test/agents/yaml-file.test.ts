import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../lib/agents/document/check-document.ts'
import { parseYaml } from '../../lib/agents/document/yaml-file.ts'
import { medianCpuTimes } from '../support/processes/cpu-time.ts'

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key${n}: ${n}`).join('\n')

describe('parseYaml', () => {
  it('names keys that a map has twice, also inside', () => {
    expect(parseYaml('a: 1\nb: { c: 1, c: 2 }\n1: x\na: 2\n"1": y').problems).toEqual([
      { line: 2, column: 12, message: 'invalid YAML: Map keys must be unique' },
      { line: 4, column: 1, message: 'invalid YAML: Map keys must be unique' },
      { line: 5, column: 1, message: 'invalid YAML: Map keys must be unique' },
    ])
    expect(parseYaml('a: { b: 1 }\nc: { b: 1 }').problems).toEqual([])
  })

  it.each([
    ['description: a: b', 14, 'the value contains ": ", which begins a map; quote the value'],
    ['null: 1', 1, 'a key is null, which is no text; quote it: "null"'],
    ['a: 01234', 4, '01234 is a number, which loses its zeros; quote it ("01234"), or write 1234'],
    ['a: -007', 4, '-007 is a number, which loses its zeros; quote it ("-007"), or write -7'],
    ['012: x', 1, '012 is a number, which loses its zeros; quote it ("012"), or write 12'],
  ])('says what to do about %s', (text, column, message) => {
    expect(parseYaml(text).problems).toEqual([{ line: 1, column, message: `invalid YAML: ${message}` }])
  })

  it.each(['a: 0', 'a: 0.5', 'a: "01234"', "'null': 1", 'a: 0x1F', 'a: 1e05', 'a: 2026-01-02'])(
    'accepts %s',
    (text) => expect(parseYaml(text).problems).toEqual([]),
  )

  it('takes 10,000 keys at most', () => {
    expect(parseYaml(keys(10_000)).problems).toEqual([])
    const message = 'invalid YAML: there can be 10000 keys'
    expect(parseYaml(keys(10_001)).problems).toEqual([{ line: 10_001, column: 1, message }])
  })

  it('takes linear time for many keys', () => {
    const [few = 0, many = 0] = medianCpuTimes(
      [1_000, 8_000],
      (count) => {
        const text = keys(count)
        return () => parseYaml(text)
      },
      3,
    )
    // Eight times as many keys took 50 times as long when each was compared with all others.
    expect(many / few).toBeLessThan(24)
  })
})

it('a document with thousands of mistakes has the first 100 in its answer', async () => {
  const source = { defaultSlug: 'a', hasCode: true, withoutCode: '', withCode: '' }
  const { problems } = await checkDocument(`---\n${keys(8_000)}\n---\n`, source)
  expect(problems).toHaveLength(100)
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  getNode,
  numberNode,
  printJson,
  setNode,
  textNode,
  valueNode,
} from '../../../console/schema/json-edit.ts'
import { parseJsonTree } from '../../../console/schema/json-node.ts'

const edit = (
  text: string,
  ...change: Parameters<typeof setNode> extends [unknown, ...infer Rest] ? Rest : never
) => printJson(setNode(parseJsonTree(text), ...change) ?? valueNode(null), null)

describe('setNode', () => {
  it.each([
    ['{"a":1}', ['b'], numberNode('12345678901234567890'), '{"a":1,"b":12345678901234567890}'],
    ['{}', ['a', 'b', 0], textNode('x'), '{"a":{"b":["x"]}}'],
    ['{"a":1,"b":2}', ['a'], undefined, '{"b":2}'],
    ['{"a":[1,2,3]}', ['a', 1], undefined, '{"a":[1,3]}'],
    ['{"a":[1,2]}', ['a', 2], numberNode('3'), '{"a":[1,2,3]}'],
    ['{"a":1,"a":2}', ['a'], numberNode('3'), '{"a":3}'],
    ['{"__proto__":1}', ['__proto__'], numberNode('2'), '{"__proto__":2}'],
    ['{"":1}', [''], undefined, '{}'],
  ])('changes %s at %j', (text, path, value, expected) => expect(edit(text, path, value)).toBe(expected))

  it('adds a field where the schema has it', () => {
    expect(edit('{"a":1,"d":4}', ['c'], numberNode('3'), ['a', 'b', 'c', 'd'])).toBe('{"a":1,"c":3,"d":4}')
    expect(edit('{"x":0,"b":2}', ['a'], numberNode('1'), ['a', 'b'])).toBe('{"x":0,"a":1,"b":2}')
  })

  it('makes what JavaScript makes', () => {
    const path = fc.array(fc.constantFrom('a', 'b', ''), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(fc.tuple(path, fc.jsonValue({ maxDepth: 1 }))), (changes) => {
        let node = parseJsonTree('{}')
        for (const [names, value] of changes) node = setNode(node, names, valueNode(value)) ?? node
        const [names, value] = changes.at(-1) ?? [[], {}]
        const found = getNode(node, names)
        expect(found && printJson(found, null)).toBe(JSON.stringify(value))
      }),
    )
  })
})

it('numberNode keeps what is no number as text, so that the check names it', () => {
  expect(printJson(numberNode('1.'))).toBe('"1."')
  expect(printJson(numberNode('1.50'))).toBe('1.50')
})

import { describe, expect, it } from 'vitest'
import { checkFrontMatter } from './check-front-matter.ts'

const check = (keys: string) =>
  checkFrontMatter(
    `title: Refund
input: { orderId: { type: string }, items: { type: array, items: { type: integer } }, order: { type: object, properties: { id: { type: string } } } }
output: { ok: { type: boolean } }
keys: ${keys}`,
    { body: 'Refund.' },
  )

describe('keys of a document', () => {
  it('are JSON Pointers into its input or its output, by name', async () => {
    const { document, problems } = await check(
      '{ orderId: { input: /orderId }, id: { input: /order/id }, first: { input: /items/0 }, constructor: { output: /ok } }',
    )
    expect(problems).toEqual([])
    expect(document?.keys).toEqual([
      { name: 'orderId', from: 'input', pointer: '/orderId' },
      { name: 'id', from: 'input', pointer: '/order/id' },
      { name: 'first', from: 'input', pointer: '/items/0' },
      { name: 'constructor', from: 'output', pointer: '/ok' },
    ])
  })

  const aPointer = 'must be a JSON Pointer to a field, such as /orderId'
  const oneOf = 'must have input or output, such as { input: /orderId }'
  const aValue = 'must point to a text, a number or a boolean, not to'
  it.each([
    ['{ a: { input: orderId } }', `.a.input: ${aPointer}`],
    ['{ a: { input: "" } }', `.a.input: ${aPointer}`],
    ['{ a: {} }', `.a: ${oneOf}`],
    ['{ a: { input: /orderId, output: /ok } }', `.a: ${oneOf}`],
    ['{ a: { in: /orderId } }', '.a.in: unknown field; allowed fields: input, output'],
    [
      '{ a: { input: /orderID } }',
      '.a.input: must point to a field of the input, which has no "orderID"; did you mean "orderId"?',
    ],
    ['{ a: { output: /orderId } }', '.a.output: must point to a field of the output, which has no "orderId"'],
    ['{ a: { input: /order } }', `.a.input: ${aValue} an object`],
    ['{ a: { input: /items } }', `.a.input: ${aValue} an array`],
    [
      '{ "a:b": { input: /orderId } }',
      '.a:b: must begin with a letter and have at most 64 letters, digits, - and _',
    ],
    [
      `{ ${[...'abcdef'].map((name) => `${name}: { input: /orderId }`).join(', ')} }`,
      ': must have at most 5 keys',
    ],
    ['[orderId]', ': must be an object, not an array'],
  ])('refuse %s', async (keys, problem) => {
    expect((await check(keys)).problems[0]).toBe(`5 keys${problem}`)
  })
})

import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../lib/agents/document/check-document.ts'

const check = (keys: string, input = 'order: { type: object, properties: { id: { type: string } } }') =>
  checkDocument(
    `---
title: Refund
input: { orderId: { type: string }, items: { type: array, items: { type: integer } }, ${input} }
output: { ok: { type: boolean } }
keys: ${keys}
---
Refund.`,
    { defaultSlug: 'refund', hasCode: false, withCode: '', withoutCode: '' },
  )
const problemsOf = async (keys: string) =>
  (await check(keys)).problems.map(({ line, field, message }) => `${line} ${field}: ${message}`)

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

  it.each([
    ['{ a: { input: orderId } }', '5 keys.a.input: must be a JSON Pointer to a field, such as /orderId'],
    ['{ a: { input: "" } }', '5 keys.a.input: must be a JSON Pointer to a field, such as /orderId'],
    ['{ a: {} }', '5 keys.a: must have input or output, such as { input: /orderId }'],
    [
      '{ a: { input: /orderId, output: /ok } }',
      '5 keys.a: must have input or output, such as { input: /orderId }',
    ],
    ['{ a: { in: /orderId } }', '5 keys.a.in: unknown field; allowed fields: input, output'],
    [
      '{ a: { input: /orderID } }',
      '5 keys.a.input: must point to a field of the input, which has no "orderID"; did you mean "orderId"?',
    ],
    [
      '{ a: { output: /orderId } }',
      '5 keys.a.output: must point to a field of the output, which has no "orderId"',
    ],
    [
      '{ a: { input: /order } }',
      '5 keys.a.input: must point to a text, a number or a boolean, not to an object',
    ],
    [
      '{ a: { input: /items } }',
      '5 keys.a.input: must point to a text, a number or a boolean, not to an array',
    ],
    [
      '{ "a:b": { input: /orderId } }',
      '5 keys.a:b: must begin with a letter and have at most 64 letters, digits, - and _',
    ],
    [
      `{ ${[...'abcdef'].map((name) => `${name}: { input: /orderId }`).join(', ')} }`,
      '5 keys: must have at most 5 keys',
    ],
    ['[orderId]', '5 keys: must be an object, not an array'],
  ])('refuse %s', async (keys, problem) => {
    expect((await problemsOf(keys))[0]).toBe(problem)
  })
})

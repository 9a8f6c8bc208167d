import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ResponsePart } from '../../../lib/core/model.ts'
import { toWireSchema } from '../../../lib/models/requests/wire-schema.ts'
import { strictSchemas } from '../../../lib/models/requests/wire-tools.ts'
import { convertParts } from '../../../lib/models/responses/convert-parts.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

/** Fields that may be missing are null, what has any form is a text with JSON, and one name is not accepted. */
const declared: JsonObject = {
  type: 'object',
  properties: {
    note: { type: 'string' },
    'größe in m': { type: 'number' },
    any: {},
    either: { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'string' } } }] },
    list: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } },
    },
    answer: { type: 'string' },
  },
  required: ['answer', 'any'],
}
const wire = strictSchemas({ keywords: [], formats: [] })(toWireSchema(declared))
if (!wire) throw new Error('The schema is not converted.')
const { encode, decode } = wire

/** What is shown after each piece. */
function show(pieces: string[]): string[] {
  const shown: string[] = []
  let text = ''
  const onPart = (part: ResponsePart) => {
    text += 'text' in part ? part.text : part.toolCall.arguments
  }
  const push = convertParts(() => decode, onPart)
  for (const piece of pieces) {
    push({ toolCall: { id: 'c', name: 'final_answer', arguments: piece } })
    shown.push(text)
  }
  return shown
}

describe('convertParts', () => {
  it('leaves pieces that need no conversion as they are', () => {
    const parts: ResponsePart[] = []
    const push = convertParts(
      () => null,
      (part) => parts.push(part),
    )
    push({ text: '{"a": nul' })
    expect(parts).toEqual([{ text: '{"a": nul' }])
  })

  it('shows a text as it grows, without the fields that are null', () => {
    const [head = '', tail = ''] = JSON.stringify(encode({ any: 1, answer: 'It is so.' })).split('It is so.')
    const shown = show([head, ...'It is so.', tail])
    expect(shown.at(-1)).toBe('{"any":1,"answer":"It is so."}')
    expect(shown.some((text) => /"answer":"It .*[^.]$/.test(text))).toBe(true)
    for (const text of shown) expect(shown.at(-1)?.startsWith(text)).toBe(true)
  })

  it('shows at every cut the beginning of what the step has', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 }).map((each) => each.toWellFormed())
    const either = fc.oneof(text, fc.record({ a: text }))
    const list = fc.array(fc.record({ a: text, b: fc.integer() }, { requiredKeys: [] }), { maxLength: 3 })
    const input = fc.record(
      {
        note: text,
        'größe in m': fc.integer(),
        any: fc.jsonValue({ maxDepth: 2 }),
        either,
        list,
        answer: text,
      },
      { requiredKeys: ['answer', 'any'] },
    )
    fc.assert(
      fc.property(input, fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 2), (value, size, indent) => {
        const sent = JSON.stringify(encode(value as JsonObject), null, indent)
        const whole = JSON.stringify(decode(JSON.parse(sent)))
        const count = Math.ceil(sent.length / size)
        const shown = show(
          Array.from({ length: count }, (_, index) => sent.slice(index * size, (index + 1) * size)),
        )
        for (const part of shown) expect(whole.startsWith(part)).toBe(true)
        expect(shown.at(-1)).toBe(whole)
      }),
      { numRuns: propertyRuns(300) },
    )
  })
})

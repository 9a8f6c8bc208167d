import { describe, expect, it } from 'vitest'
import { check } from '../../../console/schema/check-text.ts'
import { explainIssue } from '../../../console/schema/issue-text.ts'
import { openSchema } from '../../../console/schema/schema-view.ts'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'

function explain(schema: JsonObject, value: unknown, mode: 'strict' | 'adapting' = 'strict'): string[] {
  const view = openSchema(schema)
  const issues = check({ text: JSON.stringify(value), schema, mode })
  return issues.map((issue) => {
    const { label, text } = explainIssue(issue, view)
    return `${label}: ${text}`
  })
}

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['orderId', 'channel', 'attachments', 'home', 'day', 'urgent', 'count'],
  properties: {
    orderId: { type: 'string', title: 'Order number', minLength: 1 },
    channel: { enum: ['email', 'phone'] },
    attachments: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, bytes: { type: 'integer', minimum: 0 } },
      },
    },
    home: { type: 'object', title: 'Home address', properties: { city: { type: 'string', maxLength: 3 } } },
    day: { type: 'string', format: 'date' },
    urgent: { type: 'boolean' },
    count: { type: 'number', maximum: 5, multipleOf: 0.5 },
  },
}

describe('explainIssue', () => {
  it('names what is missing by its label, and says what to do', () => {
    expect(explain(SCHEMA, {})).toEqual([
      'Order number: Enter a value.',
      'channel: Choose a value.',
      'attachments: Add an item, or an empty list.',
      'Home address: Add this part.',
      'day: Enter a date.',
      'urgent: Choose a value.',
      'count: Enter a number.',
    ])
  })

  it('names parts by the labels on the way to them', () => {
    const value = {
      orderId: '',
      channel: 'fax',
      attachments: [
        { name: 'a', bytes: 1.5 },
        { name: 1, bytes: -1 },
      ],
      home: { city: 'Oslo', town: 1 },
      day: '2026-02-30',
      urgent: 'no',
      count: 5.2,
    }
    expect(explain(SCHEMA, value)).toEqual([
      'Order number: Enter a value.',
      'channel: Choose one of email, phone.',
      'attachments 1 › bytes: Enter a whole number.',
      'attachments 2 › name: Enter a text.',
      'attachments 2 › bytes: Enter 0 or more.',
      'Home address › city: Enter at most 3 characters.',
      'Home address › town: Unknown field: remove it, or run without strict mode.',
      'day: Enter a date such as 2026-01-31.',
      'urgent: Choose true or false.',
      'count: Enter 5 or less.',
      'count: Enter a multiple of 0.5.',
    ])
  })

  it.each<[JsonObject, Json, string]>([
    [{ minLength: 2 }, 'a', 'Enter at least 2 characters.'],
    [{ exclusiveMinimum: 1 }, 1, 'Enter more than 1.'],
    [{ exclusiveMaximum: 1 }, 1, 'Enter less than 1.'],
    [{ type: 'array', maxItems: 1, items: true }, [1, 2], 'Remove items: at most 1 item.'],
    [{ type: 'array', minItems: 2, items: { type: 'string' } }, ['a'], 'Add items: at least 2 items.'],
    [{ uniqueItems: true }, [1, 1], 'Remove the items that occur twice.'],
    [{ pattern: '^a+$' }, 'b', 'Enter a text that matches ^a+$.'],
    [{ format: 'email' }, 'b', 'Enter an email address.'],
    [{ format: 'date-time' }, 'b', 'Enter a date and time with an offset, such as 2026-01-31T12:00:00Z.'],
    [{ type: 'array' }, {}, 'A list is needed here.'],
    [{ type: 'object' }, [], 'An object is needed here: { … }'],
    [{ anyOf: [{ minLength: 5 }, { maxLength: 1 }] }, 'abc', 'This matches none of the allowed forms.'],
    [{ oneOf: [{}, {}] }, 'abc', 'This matches several forms, of which only one is allowed.'],
    [false as never, 1, 'Remove this value: it is not allowed here.'],
    [{ const: 1 }, 2, 'Must be 1.'],
  ])('%j: %j', (part, value, text) => {
    const schema = { type: 'object', properties: { part } }
    expect(explain(schema, { part: value }, 'adapting')).toEqual([`part: ${text}`])
  })

  it('survives schemas that contain themselves, and names of any kind', () => {
    const schema = { type: 'object', properties: { 'a/b~': { $ref: '#' }, n: { type: 'number' } } }
    const deep = { 'a/b~': { 'a/b~': { n: 'x' } } }
    expect(explain(schema, deep, 'adapting')).toEqual(['a/b~ › a/b~ › n: Enter a number.'])
  })
})

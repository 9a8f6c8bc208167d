import { describe, expect, it } from 'vitest'
import { check } from '../../../console/schema/check-text.ts'
import { describeField, initialValue } from '../../../console/schema/form/field.ts'
import {
  joinTime,
  splitTime,
  type TimeFormat,
  toControlValue,
} from '../../../console/schema/form/time-value.ts'
import { explainIssue } from '../../../console/schema/issue-text.ts'
import { printJson } from '../../../console/schema/json-edit.ts'
import { openSchema } from '../../../console/schema/schema-view.ts'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { toFileSchema } from '../../../lib/schema/files/file-schema.ts'

function kindOf(part: Json, defs: JsonObject = {}): string {
  const view = openSchema({ type: 'object', properties: { part }, $defs: defs })
  const field = describeField((view.root.properties as JsonObject).part, view)
  return `${field.kind}${field.isNullable ? ' or null' : ''}`
}

describe('describeField', () => {
  it.each<[string, Json]>([
    ['text', { type: 'string' }],
    ['number', { type: 'integer', minimum: 1 }],
    ['choice', { type: 'string', enum: ['a', 'b'] }],
    ['choice', { const: 1 }],
    ['file', toFileSchema({})],
    ['file or null', { anyOf: [toFileSchema({}), { type: 'null' }] }],
    ['text or null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['text', { $ref: '#/$defs/name', description: 'A name.' }],
    ['choice or null', { oneOf: [{ enum: [1, 2] }, { type: 'null' }] }],
    ['json', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['json', { allOf: [{ type: 'string' }] }],
    ['json', { type: ['string', 'number'] }],
    ['json', { type: 'object' }],
    ['json', { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } }],
    ['json', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['json', { $ref: '#/$defs/missing' }],
  ])('is %s for %j', (kind, part) => expect(kindOf(part, { name: { type: 'string' } })).toBe(kind))
})

describe('initialValue', () => {
  const initial = (schema: JsonObject) => {
    const view = openSchema(schema)
    const value = initialValue(view.root, view)
    return value && printJson(value, null)
  }

  it('has defaults, and the containers that are required', () => {
    expect(
      initial({
        text: { type: 'string' },
        level: { type: 'string', default: 'low' },
        size: { type: 'number', default: 0.5, required: false },
        home: {
          type: 'object',
          properties: { city: { type: 'string' }, zip: { type: 'integer', default: 1 } },
        },
        work: { type: 'object', required: false, properties: { city: { type: 'string', default: 'Oslo' } } },
        tags: { type: 'array', items: { type: 'string' } },
        stops: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', properties: { n: { type: 'integer', default: 2 } } },
        },
      }),
    ).toBe('{"level":"low","size":0.5,"home":{"zip":1},"tags":[],"stops":[{"n":2}]}')
  })

  it('ends for a schema that requires itself', () => {
    expect(
      initial({ type: 'object', required: ['next'], properties: { next: { $ref: '#' } } })?.length,
    ).toBeLessThan(500)
  })
})

it.each<[TimeFormat, string]>([
  ['date', '2024-02-29'],
  ['date', '0001-01-01'],
  ['date-time', '2026-01-31T12:00:59+05:45'],
  ['date-time', '2026-01-31T12:00:00-00:00'],
  ['date-time', '2026-01-31T23:59:59.5Z'],
  ['date-time', '2026-01-31T23:59:59.120+01:00'],
  ['time', '00:00:00Z'],
  ['time', '12:30:01.123-03:30'],
])('a form keeps every character of the %s %s', (format, text) => {
  const parts = splitTime(format, text)
  expect(parts && joinTime(format, parts)).toBe(text)
})

it.each<[TimeFormat, string]>([
  ['date', ''],
  ['date', '2026-02-30'],
  ['date', '0000-01-01'],
  ['date', '+12026-01-01'],
  ['date', '2026-1-1'],
  ['date', '2026-01-31 '],
  ['date-time', '2026-01-31T12:00:00'],
  ['date-time', '2026-01-31t12:00:00z'],
  ['date-time', '2026-01-31T12:00Z'],
  ['date-time', '2016-12-31T23:59:60Z'],
  ['date-time', '2026-01-31T12:00:00.1234Z'],
  ['date-time', '2026-01-31T12:00:00+0100'],
  ['time', '12:00:00+24:00'],
  ['time', 'T12:00:00Z'],
])('the %s %j is left to a text field', (format, text) => expect(splitTime(format, text)).toBeNull())

it('joinTime adds the seconds that a control leaves out', () => {
  expect(joinTime('date-time', { local: '2026-01-31T12:05', zone: 'Z' })).toBe('2026-01-31T12:05:00Z')
  expect(joinTime('time', { local: '12:05', zone: '+01:00' })).toBe('12:05:00+01:00')
})

it.each([
  ['2026-01-31', '2026-01-31'],
  ['2026-01-31T12:00:00', '2026-01-31T12:00'],
  ['2026-01-31T12:00:07', '2026-01-31T12:00:07'],
  ['12:00:00.500', '12:00:00.5'],
  ['12:00:00.000', '12:00'],
])('the control of %s has %s', (local, shown) => expect(toControlValue(local)).toBe(shown))

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

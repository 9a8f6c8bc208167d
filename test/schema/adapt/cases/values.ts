import {
  boolean,
  type CaseGroup,
  integer,
  listOf,
  number,
  objectOf,
  optional,
  text,
  textOf,
} from './case-group.ts'

type Value = string | number | boolean | null | object

/** Cases of a schema whose only field is `it`. */
function valuesOf(
  title: string,
  field: object,
  adapted: [sent: Value, effective: Value][],
  left: Value[] = [],
): CaseGroup {
  return {
    title,
    schema: { it: field } as never,
    adapted: adapted.map(([sent, effective]) => [{ it: sent }, { it: effective }]) as never,
    left: left.map((sent) => ({ it: sent })) as never,
  }
}

export const values: CaseGroup[] = [
  valuesOf(
    'integers',
    integer,
    [
      [' 42 ', 42],
      ['1,200', 1200],
      ['1.234.567', 1234567],
      ['3,00', 3],
      [['42'], 42],
    ],
    ['3.5', '1.200', [1, 2]],
  ),
  valuesOf(
    'numbers',
    number,
    [
      ['1 234,56', 1234.56],
      ['1 234,56', 1234.56],
      ['1.234,56', 1234.56],
      ['12,5', 12.5],
      [' 3.5', 3.5],
    ],
    ['1,200', [3, 4]],
  ),
  valuesOf(
    'numbers within limits',
    { type: 'integer', enum: [1, 5, 10] },
    [
      [['10'], 10],
      [{ value: 5, label: 'Five' }, 5],
    ],
    [],
  ),
  valuesOf('booleans', boolean, [...['1', ' yes '].map((sent): [Value, Value] => [sent, true])], []),
  valuesOf(
    'dates',
    textOf({ format: 'date' }),
    [
      ['2024-03-05T00:00:00Z', '2024-03-05'],
      ['2024-03-05T00:00:00.000Z', '2024-03-05'],
    ],
    ['2024-03-05T14:30:00Z', '2024-03-05T00:00:00+02:00', 'Wednesday, 5 March 2024'],
  ),
  valuesOf(
    'dates with times',
    textOf({ format: 'date-time' }),
    [['Tue, 05 Mar 2024 14:30:00 GMT', '2024-03-05T14:30:00Z']],
    ['Mon, 05 Mar 2024 14:30:00 GMT'],
  ),
  valuesOf(
    'texts with a format or pattern',
    { type: 'string', format: 'email' },
    [
      [' a@x.org ', 'a@x.org'],
      ['a@x.org\n', 'a@x.org'],
    ],
    [],
  ),
  valuesOf('texts without a format', text, [[3, '3']], []),
  valuesOf(
    'choices',
    textOf({ enum: ['in_progress', 'done', 'Not Started', 'n/a'] }),
    [
      ['In Progress', 'in_progress'],
      [' done', 'done'],
      [{ label: 'Done!', value: 'DONE' }, 'done'],
    ],
    [],
  ),
  valuesOf(
    'lists of texts',
    listOf(text),
    [
      ['["a", "b"]', ['a', 'b']],
      ['```json\n["a"]\n```', ['a']],
    ],
    ['', true, false],
  ),
  valuesOf(
    'lists of choices and formats',
    listOf(textOf({ enum: ['vip', 'eu', 'new'] })),
    [['VIP|EU', ['vip', 'eu']]],
    ['vip, us'],
  ),
  valuesOf(
    'lists of addresses',
    listOf(textOf({ format: 'email' })),
    [
      ['a@x.org;b@x.org', ['a@x.org', 'b@x.org']],
      ['a@x.org, b@x.org', ['a@x.org', 'b@x.org']],
    ],
    ['Ada <a@x.org>, b@x.org'],
  ),
  valuesOf('lists of integers', listOf(integer), [['1,2,3', [1, 2, 3]]], []),
  valuesOf(
    'lists of objects',
    listOf(objectOf({ sku: text, qty: optional(integer) })),
    [
      [{ SKU: 'a', Qty: '2' }, [{ sku: 'a', qty: 2 }]],
      ['{"sku": "a"}', [{ sku: 'a' }]],
    ],
    [{ qty: 2 }, { '0': { sku: 'a' } }, 3],
  ),
  valuesOf(
    'objects',
    objectOf({ city: text, zip: optional(text) }),
    [
      ['```json\n{"city": "Bonn"}\n```', { city: 'Bonn' }],
      ['```\n{"city": "Bonn"}\n```', { city: 'Bonn' }],
      ['"{\\"city\\": \\"Bonn\\"}"', { city: 'Bonn' }],
    ],
    ['{"city": 12345678901234567890}'],
  ),
  {
    title: 'optional fields without a value',
    schema: {
      name: text,
      age: optional(integer),
      born: optional(textOf({ format: 'date' })),
      size: optional(textOf({ enum: ['s', 'm'] })),
      note: optional(text),
      tags: optional(listOf(text)),
      any: { type: 'string', required: false, minLength: 1 },
    } as never,
    adapted: [[{ name: 'x', age: '' }, { name: 'x' }]],
  },
]

import { type CaseGroup, integer, listOf, number, objectOf, optional, text } from './case-group.ts'

const ticket = { subject: text, description: text, priority: optional(text) }
const sent = { subject: 'Help', description: 'It broke' }

export const envelopes: CaseGroup[] = [
  {
    title: 'a field around everything',
    schema: ticket,
    adapted: [
      [{ data: [sent] }, sent],
      [{ payload: JSON.stringify(JSON.stringify(sent)) }, sent],
      [{ ticket: sent }, sent],
      [{ statusCode: 200, headers: { a: 'b' }, body: JSON.stringify(sent) }, sent],
    ] as [never, never][],
    left: [
      { old: sent, new: sent },
      { body: '{"subject": "Help"' },
      { message: JSON.stringify(sent) },
      { a: { b: { c: { d: { e: sent } } } } },
    ],
  },
  {
    title: 'one required field',
    schema: { name: text, note: optional(text) },
    adapted: [
      [{ event: 'created', data: { name: 'x' } }, { name: 'x' }],
      [{ data: { object: { name: 'x' } } }, { name: 'x' }],
    ],
    left: [{ company: { name: 'x' } }, { results: [{ name: 'x' }] }],
  },
  {
    title: 'tool calls',
    schema: { city: text, days: optional(integer) },
    adapted: [
      [{ params: { name: 'f', arguments: { city: 'Bonn' } } }, { city: 'Bonn' }],
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"city":"Bonn"}' } }],
        },
        { city: 'Bonn' },
      ],
      [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { city: 'Bonn' } }] },
        { city: 'Bonn' },
      ],
      [{ functionCall: { name: 'f', args: { city: 'Bonn' } } }, { city: 'Bonn' }],
    ],
    left: [
      { name: 'forecast', arguments: '{"city":' },
      { name: 'forecast', arguments: '["Bonn"]' },
    ],
  },
  {
    title: 'tool calls for a schema with a name',
    schema: { name: text, email: optional(text) },
    adapted: [[{ type: 'tool_use', id: 't', name: 'create_user', input: { name: 'Ada' } }, { name: 'Ada' }]],
    left: [{ name: 'Ada', input: { name: 'Bob' } }],
  },
  {
    title: 'payments in webhooks',
    schema: { amount: integer, currency: text, customer: optional(text) },
    adapted: [
      [
        {
          id: 'evt_1',
          object: 'event',
          type: 'charge.succeeded',
          data: { object: { id: 'ch_1', amount: 100, currency: 'eur' } },
        },
        { id: 'ch_1', amount: 100, currency: 'eur' },
      ],
    ],
  },
  {
    title: 'issues in webhooks',
    schema: { title: text, body: text, number: optional(integer) },
    adapted: [
      [
        { object_kind: 'issue', object_attributes: { title: 'Bug', body: 'x' }, project: { name: 'p' } },
        { title: 'Bug', body: 'x' },
      ],
    ],
  },
  {
    title: 'orders in webhooks',
    schema: {
      orderNumber: text,
      totalPrice: number,
      lineItems: optional(listOf(objectOf({ sku: text, quantity: integer }))),
    },
    left: [{ orderNumber: 'A1', totalPrice: 3, lineItems: { '0': { sku: 's', quantity: 2 } } }],
  },
]

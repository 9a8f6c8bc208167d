import {
  boolean,
  type CaseGroup,
  formsOf,
  integer,
  listOf,
  number,
  objectOf,
  optional,
  text,
  textOf,
} from './case-group.ts'

const ticket = { subject: text, description: text, priority: optional(text) }
const sent = { subject: 'Help', description: 'It broke' }

export const envelopes: CaseGroup[] = [
  {
    title: 'a field around everything',
    schema: ticket,
    adapted: formsOf(
      sent,
      { data: [sent] },
      { payload: JSON.stringify(JSON.stringify(sent)) },
      { ticket: sent },
      { statusCode: 200, headers: { a: 'b' }, body: JSON.stringify(sent) },
    ),
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
    adapted: formsOf(
      { city: 'Bonn' },
      { params: { name: 'f', arguments: { city: 'Bonn' } } },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"city":"Bonn"}' } }],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { city: 'Bonn' } }] },
      { functionCall: { name: 'f', args: { city: 'Bonn' } } },
    ),
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

export const formsAndTables: CaseGroup[] = [
  {
    title: 'a contact form',
    schema: {
      name: text,
      email: textOf({ format: 'email' }),
      phone: optional(text),
      message: optional(text),
      newsletter: optional(boolean),
      age: optional(integer),
      country: optional(textOf({ enum: ['de', 'us'] })),
    },
    adapted: [
      [
        { 'Name:': 'Ada', 'Email Address:': 'a@x.org', 'Phone Number:': '1' },
        { name: 'Ada', email: 'a@x.org', phone: '1' },
      ],
    ],
  },
  {
    title: 'a row of a spreadsheet',
    schema: {
      item: text,
      quantity: integer,
      unitPrice: number,
      orderDate: optional(textOf({ format: 'date' })),
      paid: optional(boolean),
      status: optional(textOf({ enum: ['open', 'on_hold', 'closed'] })),
    },
    adapted: [
      [
        { Item: 'Pen', Quantity: '1,200', 'Unit Price': '1.234,50', 'Order Date': '2024/03/05', Paid: 'Y' },
        { item: 'Pen', quantity: 1200, unitPrice: 1234.5, orderDate: '2024-03-05', paid: true },
      ],
      [
        { ITEM: 'Pen', QTY: '3', UNIT_PRICE: '2.50', STATUS: 'On Hold' },
        { item: 'Pen', quantity: 3, unitPrice: 2.5, status: 'on_hold' },
      ],
      [
        { item: 'Pen', quantity: '2', 'unit price': '3', 'order date': '', paid: '', status: '' },
        { item: 'Pen', quantity: 2, unitPrice: 3 },
      ],
      [
        { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: '5-Mar-2024', 'Is Paid': 'no' },
        { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: '2024-03-05', paid: false },
      ],
    ],
    left: [{ item: 'Pen', quantity: 2, unitPrice: '1,200' }],
  },
  {
    title: 'a ticket',
    schema: {
      subject: text,
      requester: objectOf({ name: text, email: optional(text) }),
      tags: optional(listOf(text)),
      dueAt: optional(textOf({ format: 'date-time' })),
      ids: optional(listOf(integer)),
      priority: optional(textOf({ enum: ['low', 'normal', 'high'] })),
    },
    adapted: [
      [
        { subject: 'Hi', requester_name: 'Ada', requester_email: 'a@x.org', priority: 'High' },
        { subject: 'Hi', requester: { name: 'Ada', email: 'a@x.org' }, priority: 'high' },
      ],
      [
        { subject: 'Hi', requester: [{ name: 'Ada' }], tags: 'vip', ids: '1,2' },
        { subject: 'Hi', requester: { name: 'Ada' }, tags: ['vip'], ids: [1, 2] },
      ],
      [
        { subject: 'Hi', requester: '{"name":"Ada"}', due_at: 'Tue, 05 Mar 2024 14:30:00 GMT' },
        { subject: 'Hi', requester: { name: 'Ada' }, dueAt: '2024-03-05T14:30:00Z' },
      ],
    ],
    left: [{ title: 'Hi', requester: { name: 'Ada' } }],
  },
]

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

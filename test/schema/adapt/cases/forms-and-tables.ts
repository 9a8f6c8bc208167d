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
        { 'Name *': 'Ada', 'E-mail *': ' a@x.org', Newsletter: 'on' },
        { name: 'Ada', email: 'a@x.org', newsletter: true },
      ],
      [
        { name: ['Ada'], email: ['a@x.org'], age: ['36'] },
        { name: 'Ada', email: 'a@x.org', age: 36 },
      ],
      [
        { name: 'Ada', email: 'a@x.org', phone: '', age: '', country: '' },
        { name: 'Ada', email: 'a@x.org', phone: '' },
      ],
      [
        { 'Name:': 'Ada', 'Email Address:': 'a@x.org', 'Phone Number:': '1' },
        { name: 'Ada', email: 'a@x.org', phone: '1' },
      ],
      [
        { name: 'Ada', email: 'a@x.org', country: { value: 'de', label: 'Germany' } },
        { name: 'Ada', email: 'a@x.org', country: 'de' },
      ],
      [
        { contact_name: 'Ada', contact_email: 'a@x.org', contact_phone: '1' },
        { name: 'Ada', email: 'a@x.org', phone: '1' },
      ],
      [
        { form_id: 3, values: { name: 'Ada', email: 'a@x.org' } },
        { name: 'Ada', email: 'a@x.org' },
      ],
    ],
    left: [
      { name: 'Ada', email: 'a@x.org', country: 'Germany' },
      { name: 'Ada', email: 'a@x.org', age: '30-40' },
      { name: 'Ada', email: 'a@x.org', newsletter: 'subscribed' },
      { name: 'Ada', email: 'a@x.org', mobile: '1' },
      { 'Your name': 'Ada', email: 'a@x.org' },
      { name: ['Ada', 'Bob'], email: 'a@x.org' },
      { name: 'Ada', email: 'a@x.org', company: 'X' },
      { field_1: 'Ada', field_2: 'a@x.org' },
      { answers: [{ name: 'Ada' }, { email: 'a@x.org' }] },
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
      [
        { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: '2024-03-05 00:00:00' },
        { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: '2024-03-05' },
      ],
    ],
    left: [
      { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: 45356 },
      { item: 'Pen', quantity: 2, unitPrice: 3, orderDate: '3/5/2024' },
      { item: 'Pen', quantity: 2, unitPrice: '$3.00' },
      { item: 'Pen', quantity: 2, unitPrice: '1,200' },
      { item: 'Pen', quantity: 2, unitPrice: 3, paid: 'x' },
      { item: 'Pen', quantity: 2, unitPrice: 3, 'Unit Price (EUR)': 3 },
      { item: 'Pen', quantity: 2, unitPrice: 3, status: 'On' },
      { item: 'Pen', quantity: '#N/A', unitPrice: 3 },
      { item: 'Pen', quantity: '2 pcs', unitPrice: 3 },
      { values: [['Pen', '2', '3']] },
      { A: 'Pen', B: '2', C: '3' },
    ],
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
      [
        { ticket: { subject: 'Hi', requester: { Name: 'Ada' } }, account_id: 3 },
        { subject: 'Hi', requester: { name: 'Ada' } },
      ],
      [
        { ticket_subject: 'Hi', ticket_requester: { name: 'Ada' } },
        { subject: 'Hi', requester: { name: 'Ada' } },
      ],
    ],
    left: [
      { subject: 'Hi', requester: 'Ada' },
      { subject: 'Hi', requester: { name: 'Ada' }, requester_id: 3 },
      { subject: 'Hi', requester: { name: 'Ada' }, tags: 'vip, eu' },
      { subject: 'Hi', requester: { name: 'Ada' }, dueAt: '2024-03-05' },
      { subject: 'Hi', requester: { name: 'Ada' }, priority: 'urgent' },
      { subject: 'Hi', requester: { name: 'Ada' }, assignee: { name: 'Bob' } },
      { subject: 'Hi', requester: [{ name: 'Ada' }, { name: 'Bob' }] },
      { title: 'Hi', requester: { name: 'Ada' } },
    ],
  },
]

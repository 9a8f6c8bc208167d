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
  texts,
} from './case-group.ts'

export const names: CaseGroup[] = [
  {
    title: 'naming conventions',
    schema: { firstName: text, lastName: text, emailAddress: optional(text), line2: optional(text) },
    adapted: [
      [
        { firstName: 'Ada', lastName: 'L', email: 'a@x.org', 'Line 2': 'b' },
        { firstName: 'Ada', lastName: 'L', emailAddress: 'a@x.org', line2: 'b' },
      ],
    ],
  },
  {
    title: 'real words one or two letters apart',
    schema: {
      ...texts('payee', 'employee', 'content', 'model', 'contact', 'country', 'documentId', 'lastModified'),
      ...texts('ruleArn', 'dueDate', 'state', 'message', 'region'),
      quantity: optional(integer),
      price: optional(number),
    },
    left: [{ lastModifiedBy: 'x' }, { last_modified_at: 'x' }],
  },
  {
    title: 'misspellings',
    schema: {
      ...texts('address', 'description', 'customerName', 'recipient', 'invoiceNumber', 'category'),
      ...texts('receivedAt', 'subject'),
      quantity: optional(integer),
      length: optional(number),
      maintenance: optional(boolean),
      priority: optional(textOf({ enum: ['low', 'high'] })),
    },
    adapted: [
      [{ customer_nme: 'x' }, { customerName: 'x' }],
      [{ recipeint: 'x' }, { recipient: 'x' }],
      [{ 'Invoice Nubmer': 'x' }, { invoiceNumber: 'x' }],
    ],
    left: [{ lenght: '3' }, { lenght: true }, { cutomrName: 'x' }],
  },
  {
    title: 'the tables of words',
    schema: {
      ...texts('description', 'address', 'customerName', 'repository', 'language', 'message'),
      ...texts('orderNumber', 'email', 'phone', 'color'),
      quantity: optional(integer),
      paid: optional(boolean),
      isActive: optional(boolean),
    },
    adapted: [
      ...formsOf({ quantity: 3 }, { qty: 3 }, { Qty: '3' }, { 'Qty.': '3' }),
      [{ desc: 'x' }, { description: 'x' }],
      [{ addr: 'x' }, { address: 'x' }],
      ...formsOf({ customerName: 'x' }, { cust_name: 'x' }, { custName: 'x' }),
      [{ repo: 'x' }, { repository: 'x' }],
      [{ lang: 'en' }, { language: 'en' }],
      [{ msg: 'x' }, { message: 'x' }],
      [{ order_num: 'x' }, { orderNumber: 'x' }],
      ...formsOf({ email: 'a@x.org' }, { email_address: 'a@x.org' }, { emailAddress: 'a@x.org' }),
      ...formsOf({ phone: '1' }, { phone_number: '1' }, { 'Phone Number': '1' }),
      ...formsOf({ paid: true }, { is_paid: true }, { isPaid: 'true' }),
      [{ active: false }, { isActive: false }],
      [{ colour: 'red' }, { color: 'red' }],
    ],
    left: [
      { desc: true },
      { desc: 'x', description: 'y' },
      { qty: 'many' },
      { qty: 3, quantity: 4 },
      { num: 3 },
      { is_paid: 'x' },
      { mobile_number: '1' },
      { address_email: 'x' },
      { was_paid: true },
      { cust: 'x' },
      { email_id: 'x' },
      { org: 'x' },
    ],
  },
  {
    title: 'the plural of the only text that is missing',
    schema: { content: text, language: text, title: optional(text), sources: optional(listOf(text)) },
    adapted: [
      [
        { contents: 'x', language: 'en' },
        { content: 'x', language: 'en' },
      ],
      [
        { Contents: 'x', Language: 'en', source: ['a'] },
        { content: 'x', language: 'en', sources: ['a'] },
      ],
      [
        { content: 'x', languages: 'en', title: 't' },
        { content: 'x', language: 'en', title: 't' },
      ],
    ],
    left: [
      { contents: 'x', language: 'en', mood: 'y' },
      { contentss: 'x', language: 'en' },
    ],
  },
  {
    title: 'the plural of the only field that is missing, which is no plain text',
    schema: { notes: text, count: integer, kind: textOf({ enum: ['box', 'bag'] }) },
    left: [
      { notes: 'x', counts: 1, kind: 'box' },
      { notes: 'x', count: 1, kinds: 'box, bag' },
    ],
  },
  {
    title: 'prefixes and suffixes that all fields share',
    schema: { id: text, total: number, note: optional(text) },
    adapted: formsOf(
      { id: 'a', total: 3 },
      { order_id: 'a', order_total: 3 },
      { 'order.id': 'a', 'order.total': 3 },
      { shop_order_id: 'a', shop_order_total: 3 },
    ),
    left: [
      { order_id: 'a', order_total: 3, status: 'x' },
      { order_id: 'a', invoice_total: 3 },
      { order_id: 'a', order_total: 'much' },
      { order_id: 'a', order_note: 'x' },
    ],
  },
  {
    title: 'paths',
    schema: {
      requester: objectOf({ name: text, email: optional(text), phone: optional(text) }),
      items: optional(listOf(objectOf({ sku: text, qty: optional(integer) }))),
      tags: optional(listOf(text)),
      billing: optional(objectOf({ address: objectOf({ city: text, line1: optional(text) }) })),
    },
    adapted: [
      [
        { 'requester.name': 'Ada', itmes: [{ sku: 'x' }] },
        { requester: { name: 'Ada' }, items: [{ sku: 'x' }] },
      ],
      [
        { 'requester.name': 'Ada', 'items[0][sku]': 'a', 'items[0][qty]': '2', 'items[1][sku]': 'b' },
        { requester: { name: 'Ada' }, items: [{ sku: 'a', qty: 2 }, { sku: 'b' }] },
      ],
      [
        { requester: { name: 'A' }, 'items.0.sku': 'a' },
        { requester: { name: 'A' }, items: [{ sku: 'a' }] },
      ],
      [
        { requester: { name: 'A' }, billing_address_city: 'Bonn' },
        { requester: { name: 'A' }, billing: { address: { city: 'Bonn' } } },
      ],
      [
        { requester: { name: 'A' }, billing_address_city: 'Bonn', billing_address_line_1: 'x' },
        { requester: { name: 'A' }, billing: { address: { city: 'Bonn', line1: 'x' } } },
      ],
    ],
    left: [
      { requester: { name: 'A' }, 'items[1][sku]': 'a' },
      { requester: { name: 'A' }, 'items[0][color]': 'a' },
      { requester: { name: 'A' }, 'items[x][sku]': 'a' },
      { requester: { name: 'A' }, 'assignee.name': 'B' },
      { requester: { name: 'A' }, 'tags[0]': 'x', 'tags[2]': 'y' },
      { requester: { name: 'A' }, 'items[0][sku]': 'a', 'items.0.sku': 'b' },
    ],
  },
]

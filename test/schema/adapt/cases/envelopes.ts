import { type CaseGroup, integer, listOf, number, objectOf, optional, text } from './case-group.ts'

const ticket = { subject: text, description: text, priority: optional(text) }
const sent = { subject: 'Help', description: 'It broke' }

export const envelopes: CaseGroup[] = [
  {
    title: 'a field around everything',
    schema: ticket,
    adapted: [
      ...['input', 'data', 'body', 'payload', 'params', 'arguments', 'json', 'values', 'fields'].map(
        (name): [object, object] => [{ [name]: sent }, sent],
      ),
      [{ Data: sent }, sent],
      [{ data: [sent] }, sent],
      [{ body: JSON.stringify(sent) }, sent],
      [{ payload: JSON.stringify(JSON.stringify(sent)) }, sent],
      [{ input: '```json\n{"subject": "Help", "description": "It broke"}\n```' }, sent],
      [{ data: { payload: sent } }, sent],
      [{ data: { type: 'tickets', id: '1', attributes: sent } }, sent],
      [{ data: [{ type: 'tickets', id: '1', attributes: sent }] }, sent],
      [{ id: 'rec1', createdTime: '2024-01-01', fields: sent }, sent],
      [{ records: [{ id: 'rec1', createdTime: '2024-01-01', fields: sent }] }, sent],
      [{ event: 'created', data: sent }, sent],
      [
        { version: 1, payload: { ...sent, Priority: 'high' } },
        { ...sent, priority: 'high' },
      ],
      [{ ticket: sent }, sent],
      [{ statusCode: 200, headers: { a: 'b' }, body: JSON.stringify(sent) }, sent],
    ] as [never, never][],
    left: [
      { subject: 'Help', data: { description: 'x' } },
      { subject: 'Help', data: sent },
      { old: sent, new: sent },
      { data: sent, payload: sent },
      { data: [sent, sent] },
      { data: { ticket: { subject: 'Help' } } },
      { event: 'x', data: { subject: 'Help' } },
      { priority: 'high', data: sent },
      { body: 'text' },
      { body: '{"subject": "Help"' },
      { message: JSON.stringify(sent) },
      { result: { subject: 'Help' } },
      { a: { b: { c: { d: { e: sent } } } } },
    ],
  },
  {
    title: 'one required field',
    schema: { name: text, note: optional(text) },
    adapted: [
      [{ data: { name: 'x' } }, { name: 'x' }],
      [{ event: 'created', data: { name: 'x' } }, { name: 'x' }],
      [{ data: { object: { name: 'x' } } }, { name: 'x' }],
      [
        { event: 'created', user: { name: 'x', note: 'n' } },
        { name: 'x', note: 'n' },
      ],
    ],
    left: [
      { company: { name: 'x' } },
      { event: 'created', user: { name: 'x' } },
      { event: 'created', user: { name: 'x' }, company: { name: 'y' } },
      { note: 'n', data: { name: 'x' } },
      { results: [{ name: 'x' }] },
    ],
  },
  {
    title: 'a field that is an envelope by name',
    schema: { data: objectOf({ id: integer }), fields: optional(listOf(text)) },
    adapted: [
      [{ payload: { data: { id: 1 } } }, { data: { id: 1 } }],
      [{ data: [{ id: 1 }] }, { data: { id: 1 } }],
      [{ data: '{"id": 1}' }, { data: { id: 1 } }],
      [{ DATA: { ID: '1' } }, { data: { id: 1 } }],
    ],
    left: [{ data: { other: 1 } }, { id: 1 }, { data: [{ id: 1 }, { id: 2 }] }],
  },
  {
    title: 'tool calls',
    schema: { city: text, days: optional(integer) },
    adapted: [
      [
        { id: 'c1', type: 'function', function: { name: 'forecast', arguments: '{"city":"Bonn","days":2}' } },
        { city: 'Bonn', days: 2 },
      ],
      [{ type: 'tool_use', id: 't1', name: 'forecast', input: { city: 'Bonn' } }, { city: 'Bonn' }],
      [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"city":"Bonn"}' }, { city: 'Bonn' }],
      [
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'f', arguments: { city: 'Bonn' } } },
        { city: 'Bonn' },
      ],
      [{ name: 'forecast', arguments: '{"city":"Bonn"}' }, { city: 'Bonn' }],
      [{ name: 'forecast', arguments: { city: 'Bonn' } }, { city: 'Bonn' }],
      [{ name: 'forecast', input: { City: 'Bonn' } }, { city: 'Bonn' }],
      [{ params: { arguments: { city: 'Bonn' } } }, { city: 'Bonn' }],
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
      [{ name: 'forecast', parameters: { city: 'Bonn' } }, { city: 'Bonn' }],
      [{ type: 'tool-call', toolCallId: 't', toolName: 'f', input: { city: 'Bonn' } }, { city: 'Bonn' }],
      [{ functionCall: { name: 'f', args: { city: 'Bonn' } } }, { city: 'Bonn' }],
      [
        {
          id: 'm',
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'text', text: 'I will look.' },
            { type: 'tool_use', id: 't', name: 'f', input: { city: 'Bonn' } },
          ],
        },
        { city: 'Bonn' },
      ],
      [{ tool: 'forecast', tool_input: { city: 'Bonn' } }, { city: 'Bonn' }],
      [{ arguments: '{"city":"Bonn","days":"2"}' }, { city: 'Bonn', days: 2 }],
    ],
    left: [
      { name: 'forecast', arguments: '{"city":' },
      {
        role: 'assistant',
        tool_calls: [
          { type: 'function', function: { name: 'f', arguments: '{"city":"Bonn"}' } },
          { type: 'function', function: { name: 'f', arguments: '{"city":"Rome"}' } },
        ],
      },
      { name: 'forecast', arguments: '["Bonn"]' },
    ],
  },
  {
    title: 'tool calls for a schema with a name',
    schema: { name: text, email: optional(text) },
    adapted: [
      [{ type: 'tool_use', id: 't', name: 'create_user', input: { name: 'Ada' } }, { name: 'Ada' }],
      [{ type: 'function', function: { name: 'create_user', arguments: '{"name":"Ada"}' } }, { name: 'Ada' }],
    ],
    left: [
      { name: 'Ada', email: 'x' },
      { name: 'create_user', input: { title: 'x' } },
      { name: 'Ada', input: { name: 'Bob' } },
    ],
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
      [
        { event: 'payment', resource: { amount: '100', currency: 'EUR' }, links: [] },
        { amount: 100, currency: 'EUR' },
      ],
    ],
    left: [
      { type: 'refund', charge: { amount: 1, currency: 'eur' }, refund: { amount: 1, currency: 'eur' } },
      { amount: 3, data: { amount: 1, currency: 'eur' } },
      { data: { object: { amount: 1 }, other: { currency: 'eur' } } },
      {
        items: [
          { amount: 1, currency: 'eur' },
          { amount: 2, currency: 'eur' },
        ],
      },
    ],
  },
  {
    title: 'issues in webhooks',
    schema: { title: text, body: text, number: optional(integer) },
    adapted: [
      [
        {
          action: 'opened',
          issue: { title: 'Bug', body: 'It broke', number: 7 },
          repository: { full_name: 'a/b', name: 'b' },
          sender: { login: 'ada' },
        },
        { title: 'Bug', body: 'It broke', number: 7 },
      ],
      [
        { object_kind: 'issue', object_attributes: { title: 'Bug', body: 'x' }, project: { name: 'p' } },
        { title: 'Bug', body: 'x' },
      ],
    ],
    left: [
      {
        action: 'opened',
        issue: { title: 'Bug', body: 'x' },
        comment: { title: 'Re: Bug', body: 'y' },
      },
      { action: 'opened', number: 7, pull_request: { title: 'Fix', body: 'x' } },
      { action: 'opened', issue: { title: 'Bug' } },
    ],
  },
  {
    title: 'orders in webhooks',
    schema: {
      orderNumber: text,
      totalPrice: number,
      lineItems: optional(listOf(objectOf({ sku: text, quantity: integer }))),
    },
    adapted: [
      [
        { order_number: 'A1', total_price: '12.50', line_items: [{ sku: 's', quantity: '2' }] },
        { orderNumber: 'A1', totalPrice: 12.5, lineItems: [{ sku: 's', quantity: 2 }] },
      ],
      [
        { order_number: 1001, total_price: 3 },
        { orderNumber: '1001', totalPrice: 3 },
      ],
      [
        { topic: 'orders/create', order: { order_number: 'A1', total_price: '3.00' } },
        { orderNumber: 'A1', totalPrice: 3 },
      ],
    ],
    left: [
      { orderNumber: 'A1', totalPrice: 3, lineItems: { data: [{ sku: 's', quantity: 2 }] } },
      { orderNumber: 'A1', totalPrice: 3, lineItems: { '0': { sku: 's', quantity: 2 } } },
      { orderNumber: 'A1', totalPrice: 3, subtotal_price: 2 },
      { orderNumber: 'A1', totalPrice: 'EUR 3' },
    ],
  },
  {
    title: 'dictionaries are no envelopes',
    schema: {
      type: 'object',
      properties: { name: text },
      required: ['name'],
      additionalProperties: objectOf({ name: text }),
    },
    left: [{ data: { name: 'x' } }, { event: { name: 'x' }, other: { name: 'y' } }],
  },
]

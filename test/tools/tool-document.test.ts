import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { explainIssue } from '../../lib/agents/explain-issue.ts'
import { knownToolKeys, toolsSchema } from '../../lib/tools/tool-document.ts'
import { secret } from './tools.ts'

const EXAMPLE = `
- name: get_order
  description: Looks an order up.
  input: { orderId: { type: string, description: The order's number. } }
  http: { method: GET, url: "https://shop.example/orders/{orderId}", headers: { Authorization: "Bearer ${secret('SHOP_KEY')}" } }
- name: crm
  mcp: { url: "https://crm.example/mcp" }
- name: redact
  agent: redact-pii
- name: total
  description: Adds up.
  input: {}
  timeoutSeconds: 900
  lambda: { function: "arn:aws:lambda:eu-central-1:123456789012:function:orders:live" }
`

const id = { type: 'string' }
const http = (overrides: object = {}, input: object = { id }) => ({
  name: 'get',
  description: 'Gets.',
  input,
  http: { method: 'GET', url: 'https://shop.example/{id}', ...overrides },
})
const url = (text: string, input: object = { id }) => http({ url: text }, input)

/** What is said of a tool that is wrong, each as `field: message`. */
function findingsOf(...tools: unknown[]): string[] {
  const { error } = toolsSchema.safeParse(tools, { reportInput: true })
  return (error?.issues ?? [])
    .flatMap(explainIssue)
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('toolsSchema', () => {
  it('takes the example of the design, with defaults', () => {
    const [order, crm, redact, total] = toolsSchema.parse(parse(EXAMPLE))
    expect(order).toMatchObject({ timeoutSeconds: 60, http: { allowedHosts: [], query: [], body: [] } })
    expect(crm).toEqual({
      name: 'crm',
      timeoutSeconds: 60,
      mcp: { url: 'https://crm.example/mcp', headers: {}, allowedHosts: [] },
    })
    expect(redact).toEqual({ name: 'redact', timeoutSeconds: 60, agent: 'redact-pii' })
    expect(total?.timeoutSeconds).toBe(900)
  })

  const place = 'may hold placeholders in its path only; other inputs go to the query or body'
  const wrong: [unknown, string | RegExp][] = [
    ['get', '0: is "get"; it must be a mapping of names to values'],
    [{ name: 'a' }, '0: must have exactly one of http, lambda, mcp, agent, and has none of them'],
    [{ name: 'a', agent: 'b', mcp: { url: 'https://a.example/' } }, /has mcp and agent$/],
    [{ agent: 'b' }, '0.name: is missing; it must be a text'],
    [{ name: 'get order', agent: 'b' }, /^0.name: must be letters/],
    [{ name: 'final_answer', agent: 'b' }, /^0.name: must not be "final_answer"/],
    [{ name: '1st', agent: 'b' }, /^0.name: must be letters/],
    [{ name: 'a'.repeat(65), agent: 'b' }, /^0.name: must be letters/],
    [{ name: 'a', agent: 'Not A Slug' }, '0.agent: must be the slug of an agent'],
    [{ name: 'a', agent: 'b', input: {} }, '0.input: must be left out: it comes from the agent itself'],
    [
      { name: 'a', mcp: { url: 'https://a.example/' }, description: 'x' },
      /must be left out: it comes from the server/,
    ],
    [{ name: 'a', agent: 'b', timeoutSeconds: 0 }, '0.timeoutSeconds: must be at least 1'],
    [{ name: 'a', agent: 'b', timeoutSeconds: 901 }, '0.timeoutSeconds: must be at most 900'],
    [{ name: 'a', agent: 'b', timeoutSeconds: 1.5 }, /^0.timeoutSeconds: .*a whole number/],
    [
      { name: 'a', lambda: { function: 'f' }, input: {} },
      '0.description: is missing; it must be given for a tool of kind lambda',
    ],
    [
      { name: 'a', lambda: { function: 'f' }, description: 'x' },
      '0.input: is missing; it must be given for a tool of kind lambda',
    ],
    [
      { name: 'a', lambda: { function: 'f g' }, description: 'x', input: {} },
      "0.lambda.function: must be a Lambda function's name or ARN",
    ],
    [http({ method: 'FETCH' }), /^0.http.method: is "FETCH"; it must be one of GET, HEAD/],
    [http({ allowedHosts: ['https://x'] }), /^0.http.allowedHosts.0: must be a host such as/],
    [http({}, { id: { type: 'text' } }), /^0.input.id.type: is "text"/],
    [http({}, { id: { ...id, enum: [1] } }), /^0.input.id.enum: holds 1/],
    [http({}, { id: { ...id, required: false } }), /must be a required input of type/],
    [http({}, { id: { type: 'array' } }), /must be a required input of type/],
    [http({}, {}), '0.http.url: holds {id}, which input does not declare'],
    [url('https://shop.example/{toString}'), '0.http.url: holds {toString}, which input does not declare'],
    [url('shop.example/x'), /^0.http.url: must be a URL/],
    [url('https://{id}.example/'), /^0.http.url: has the host/],
    [url('https://{id}@shop.example/'), /^0.http.url: must not hold a user name/],
    [url('https://shop.example/?q={id}'), `0.http.url: ${place}`],
    [url('https://shop.example/{id}/..'), `0.http.url: ${place}`],
    [url('https://shop.example/#{id}'), /fragment/],
    [url('https://shop.example/{order id}'), /holds a "\{" or "\}" that is not a placeholder/],
    [url('https://shop.example/{id'), /holds a "\{"/],
    [url('https://shop.example/%2{id}'), /placeholder after "%"/],
    [
      url('http://shop.example/{id}'),
      '0.http.url: must begin with https://, unless allowedHosts names "shop.example"',
    ],
    [url('https://10.0.0.1/{id}'), /address that is not public, unless allowedHosts names "10.0.0.1"/],
    [url('ftp://shop.example/{id}'), '0.http.url: must begin with https://'],
    [url(`https://shop.example/${secret('KEY')}/{id}`), /^0.http.url: must not hold a secret/],
    [url(`https://shop.example/{id}?k=${secret('KEY')}`), /^0.http.url: must not hold a secret/],
    [http({}, { id: { ...id, default: secret('KEY') } }), /^0.input.id.default: must not hold a secret/],
    [
      http({}, { id, headers: { ...id, default: secret('KEY') } }),
      /^0.input.headers.default: must not hold a secret/,
    ],
    [{ ...http(), description: secret('KEY') }, /^0.description: must not hold a secret/],
    [http({ headers: { A: secret('a-b') } }), /^0.http.headers.A: holds a "\$\{" that is not a secret/],
    [http({ headers: { A: 'a\nb' } }), '0.http.headers.A: must be printable ASCII characters'],
    [http({ headers: { 'A B': 'a' } }), '0.http.headers.A B: is not the name of a header'],
    [http({ headers: { Host: 'a' } }), '0.http.headers.Host: is set by the service'],
    [http({ headers: { A: 1 } }), '0.http.headers.A: is 1; it must be a text'],
    [http({ query: ['nope'] }), '0.http.query.0: is "nope", which input does not declare'],
    [http({ query: ['id'] }), '0.http.query.0: is "id", which already has another place'],
    [
      http({ query: ['x'], body: ['x'] }, { id, x: id }),
      '0.http.body.0: is "x", which already has another place',
    ],
    [http({ redirect: true }), /^0.http.redirect: is not a known field/],
    [{ name: 'a', agent: 'b', more: 1 }, /^0.more: is not a known field/],
    [{ name: 'a', mcp: { url: 'http://127.0.0.1/' } }, /^0.mcp.url: must begin with https/],
  ]
  it.each(wrong)('%j: %s', (tool, finding) => {
    const findings = findingsOf(tool)
    expect(findings).toHaveLength(1)
    expect(findings[0]).toEqual(typeof finding === 'string' ? finding : expect.stringMatching(finding))
  })

  it('refuses a name that is taken', () => {
    const tool = { name: 'a', agent: 'b' }
    expect(findingsOf(tool, { ...tool, name: 'c' }, tool)).toEqual([
      '2.name: is "a", which another tool has already',
    ])
  })

  it('tells the fields that are known, for messages', () => {
    expect(knownToolKeys([])).toContain('timeoutSeconds')
    expect(knownToolKeys(['mcp'])).toEqual(['url', 'headers', 'allowedHosts'])
    expect(knownToolKeys(['input', 'id'])).toBeNull()
  })
})

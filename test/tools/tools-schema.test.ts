import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { explainIssue } from '../../lib/agents/document/explain-issue.ts'
import { getKnownToolFields, TOOL_KINDS } from '../../lib/tools/document/tool-fields.ts'
import { toolsSchema } from '../../lib/tools/document/tools-schema.ts'
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
const mcp = (overrides: object = {}) => ({ name: 'a', mcp: { url: 'https://a.example/', ...overrides } })
const search = (webSearch: object, name = 'web_search') => ({ name, webSearch })
const OAUTH = { tokenUrl: 'https://id.example/token', clientId: 'aes', clientSecret: secret('CRM') }
const oauth = (overrides: object) => mcp({ oauth: { ...OAUTH, ...overrides } })
const http = (overrides: object = {}, input: object = { id }) => ({
  name: 'get',
  description: 'Gets.',
  input,
  http: { method: 'GET', url: 'https://shop.example/{id}', ...overrides },
})
const lambda = (name: string, more: object = {}) => ({
  name: 'a',
  lambda: { function: name },
  input: {},
  ...more,
})
const headers = (fields: object) => http({ headers: fields })
const url = (text: string, input: object = { id }) => http({ url: text }, input)

/** The problems of tools, as `field: message`. */
function findProblems(...tools: unknown[]): string[] {
  const { error } = toolsSchema.safeParse(tools, { reportInput: true })
  return (error?.issues ?? [])
    .flatMap(explainIssue)
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('toolsSchema', () => {
  it('parses the example of the documentation and adds defaults', () => {
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

  const onlyInPath = 'can contain placeholders only in the path; send other inputs in the query or body'
  const approved = (approval: unknown, more: object = {}) => ({ ...http(), approval, ...more })
  it.each([
    [true],
    [false],
    [{ notByCaller: true }],
    [{ show: ['/id'] }],
    [{ when: { properties: { id: { pattern: '^x' } }, required: ['id'] } }],
    [{ when: { not: { properties: { usd: { type: 'number', maximum: 100 } }, required: ['usd'] } } }],
  ])('accepts the approval %j', (approval) => {
    expect(findProblems(approved(approval))).toEqual([])
  })

  const invalid: [unknown, string | RegExp][] = [
    [approved('yes'), /^0.approval: /],
    [approved({ when: { usd: { minimum: 100 } } }), /^0.approval.when.usd: .*unknown keyword: "usd"/],
    [
      approved({ when: { type: 'string' } }),
      '0.approval.when.type: must be "object": it is the schema of the arguments',
    ],
    [
      approved({ when: { properties: { id: { pattern: '(?=x)' } } } }),
      /^0.approval.when.properties.id.pattern: .*is not supported/,
    ],
    [approved({ until: 5 }), /^0.approval/],
    [
      approved({ show: ['id'] }),
      '0.approval.show.0: must be a JSON Pointer to an argument, such as "/orderId"',
    ],
    [approved({ show: [] }), /^0.approval/],
    [approved({ show: ['/id', '/id'] }), '0.approval.show.1: "/id" is listed twice'],
    [approved({ show: ['/usd'] }), /^0.approval.show.0: "\/usd" is no input of the tool: id/],
    [approved(true, { approvalTimeoutSeconds: 0 }), /^0.approvalTimeoutSeconds: /],
    [
      approved(false, { approvalTimeoutSeconds: 60 }),
      '0.approvalTimeoutSeconds: must be omitted without approval',
    ],
    [
      { ...search({}), approval: true },
      '0.approval: must be omitted: the provider executes the tool within its response',
    ],
    [{ ...mcp(), approval: { when: { title: secret('X') } } }, /must not contain a secret/],
    ['get', '0: must be an object, not "get"'],
    [{ name: 'a' }, `0: must have exactly one of ${TOOL_KINDS.join(', ')}, but has none`],
    [{ name: 'a', agent: 'b', mcp: { url: 'https://a.example/' } }, /has mcp and agent$/],
    [{ agent: 'b' }, '0.name: is required and must be a string'],
    [{ name: 'get order', agent: 'b' }, /^0.name: must start with a letter/],
    [{ name: 'final_answer', agent: 'b' }, /^0.name: must not be "final_answer"/],
    [{ name: 'a'.repeat(65), agent: 'b' }, /^0.name: must start with a letter/],
    [{ name: 'a', agent: 'Not A Slug' }, '0.agent: must be the slug of an agent'],
    [{ name: 'a', agent: 'b', description: '' }, '0.description: must not be empty'],
    [{ name: 'a', agent: 'b', input: {} }, '0.input: must be omitted: the agent defines it'],
    [{ name: 'a', agent: 'b', timeoutSeconds: 0 }, '0.timeoutSeconds: must be at least 1'],
    [{ name: 'a', agent: 'b', timeoutSeconds: 901 }, '0.timeoutSeconds: must be at most 900'],
    [{ name: 'a', agent: 'b', maxResultBytes: 999 }, '0.maxResultBytes: must be at least 1000'],
    [lambda('f'), '0.description: is required for tools of kind lambda'],
    [lambda('f g', { description: 'x' }), '0.lambda.function: must be the name or ARN of a Lambda function'],
    [http({ method: 'FETCH' }), /^0.http.method: must be one of GET, HEAD.*, not "FETCH"/],
    [http({ allowedHosts: ['https://x'] }), /^0.http.allowedHosts.0: must be a host such as/],
    [http({}, { id: { type: 'text' } }), /^0.input.id.type: must be one of .*, not "text"/],
    [http({}, { id: { ...id, enum: [1] } }), /^0.input.id.enum: 1 does not match type string/],
    [http({}, { id: { ...id, required: false } }), /must be a required input of type/],
    [http({}, {}), '0.http.url: contains {id}, which is not declared in input'],
    [url('shop.example/x'), /^0.http.url: must be a URL/],
    [url('https://{id}.example/'), /^0.http.url: contains the invalid host/],
    [url('https://{id}@shop.example/'), /^0.http.url: must not contain a user name/],
    [url('https://shop.example/?q={id}'), `0.http.url: ${onlyInPath}`],
    [url('https://shop.example/{id}/..'), `0.http.url: ${onlyInPath}`],
    [url('https://shop.example/#{id}'), /fragment/],
    [url('https://shop.example/{order id}'), /contains a "\{" or "\}" that is not part of a placeholder/],
    [url('https://shop.example/%2{id}'), /placeholder after "%"/],
    [
      url('http://shop.example/{id}'),
      '0.http.url: must start with https:// unless allowedHosts contains "shop.example"',
    ],
    [url('https://10.0.0.1/{id}'), /non-public address unless allowedHosts contains "10.0.0.1"/],
    [url('ftp://shop.example/{id}'), '0.http.url: must start with https://'],
    [url(`https://shop.example/${secret('KEY')}/{id}`), /^0.http.url: must not contain a secret/],
    [http({}, { id: { ...id, default: secret('KEY') } }), /^0.input.id.default: must not contain a secret/],
    [{ ...http(), description: secret('KEY') }, /^0.description: must not contain a secret/],
    [headers({ A: secret('a-b') }), /^0.http.headers.A: contains a "\$\{" that is not a secret reference/],
    [headers({ A: 'a\nb' }), '0.http.headers.A: must contain only printable ASCII characters'],
    [headers({ 'A B': 'a' }), '0.http.headers.A B: is not a valid header name'],
    [headers({ Host: 'a' }), '0.http.headers.Host: is reserved: the service sets it'],
    [headers({ A: 1 }), '0.http.headers.A: must be a string, not 1'],
    [http({ query: ['nope'] }), '0.http.query.0: "nope" is not declared in input'],
    [http({ query: ['id'] }), '0.http.query.0: "id" is already sent in the path or query'],
    [
      http({ query: ['x'], body: ['x'] }, { id, x: id }),
      '0.http.body.0: "x" is already sent in the path or query',
    ],
    [http({ redirect: true }), /^0.http.redirect: unknown field/],
    [{ name: 'a', agent: 'b', more: 1 }, /^0.more: unknown field/],
    [mcp({ url: 'http://127.0.0.1/' }), /^0.mcp.url: must start with https/],
    [search({}, 'find'), '0.name: must be "web_search" for a tool of kind webSearch'],
    [{ ...search({}), description: 'x' }, '0.description: must be omitted: the provider defines it'],
    [search({ maxUses: 0 }), '0.webSearch.maxUses: must be at least 1'],
    [search({ maxUses: 21 }), '0.webSearch.maxUses: must be at most 20'],
    [search({ allowedDomains: [] }), '0.webSearch.allowedDomains: must not be empty'],
    [search({ allowedDomains: ['https://a.example'] }), /^0.webSearch.allowedDomains.0: must be a domain/],
    [
      search({ allowedDomains: ['a.example'], blockedDomains: ['b.example'] }),
      '0.webSearch.blockedDomains: must be omitted beside allowedDomains',
    ],
    [mcp({ tools: [] }), '0.mcp.tools: must not be empty'],
    [mcp({ oauth: { ...OAUTH, clientSecret: undefined } }), /^0.mcp.oauth.clientSecret: is required/],
    [
      oauth({ clientSecret: 'plain' }),
      /^0.mcp.oauth.clientSecret: must be a secret reference such as \$\{secret/,
    ],
    [oauth({ clientId: secret('CRM') }), /^0.mcp.oauth.clientId: must not contain a secret/],
    [oauth({ tokenUrl: 'http://id.example/token' }), /^0.mcp.oauth.tokenUrl: must start with https/],
    [oauth({ tokenUrl: 'https://10.0.0.1/' }), /^0.mcp.oauth.tokenUrl: must not use a non-public address/],
    [oauth({ authentication: 'jwt' }), /^0.mcp.oauth.authentication: must be one of basic, body/],
    [
      mcp({ headers: { authorization: 'x' }, oauth: OAUTH }),
      '0.mcp.headers.authorization: must be omitted: oauth sets it',
    ],
  ]
  it.each(invalid)('%j: %s', (tool, expected) => {
    const problems = findProblems(tool)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })

  it('rejects a duplicate name', () => {
    const tool = { name: 'a', agent: 'b' }
    expect(findProblems(tool, { ...tool, name: 'c' }, tool)).toEqual([
      '2.name: "a" is already the name of another tool',
    ])
  })
})

describe('getKnownToolFields', () => {
  it('returns the fields of a tool and of its kind, and null within a field map', () => {
    expect(getKnownToolFields([])).toContain('timeoutSeconds')
    expect(getKnownToolFields(['mcp'])).toEqual(['url', 'headers', 'allowedHosts', 'tools', 'oauth'])
    expect(getKnownToolFields(['mcp', 'oauth'])).toContain('clientSecret')
    expect(getKnownToolFields(['input', 'id'])).toBeNull()
  })
})

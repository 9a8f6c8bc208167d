import { describe, expect, it } from 'vitest'
import type { ParametersName } from '../../lib/contract/operations/operation.ts'
import { parameterSchemas } from '../../lib/contract/parameters/parameters.ts'
import { encoding, queryParameters, requestHeaders } from '../../lib/http/parameters.ts'

type Middleware = ReturnType<typeof encoding>
type Violations = { code: string; errors: { path: string; message: string }[] }

/** What a middleware says of an event; undefined if it accepts it. */
function check({ before }: Middleware, parts: object): Violations | undefined {
  const event = { path: '/v1/agents/a', pathParameters: null, headers: {}, ...parts }
  try {
    before?.({ event } as never)
    return undefined
  } catch (error) {
    return error as Violations
  }
}

/** As API Gateway passes a query, which it has decoded. */
function toParameters(query: string): Record<string, string[]> {
  const given = [...new URLSearchParams(query)]
  return Object.fromEntries(
    given.map(([name]) => [name, given.filter(([key]) => key === name).map(([, text]) => text)]),
  )
}
const checkQuery = (name: ParametersName | undefined, query: string) =>
  check(queryParameters(name && parameterSchemas[name]), {
    multiValueQueryStringParameters: toParameters(query),
  })

const messageFor = (...query: Parameters<typeof checkQuery>) => checkQuery(...query)?.errors[0]?.message

const PLURAL = ['', ...'0 -1 1.5 1e2 abc %2B5 +5 5%20 05 0x10 1,000 NaN null'.split(' ')]

/** Values that a parameter rejects, and the ends of its range. */
const VALUES: [ParametersName, parameter: string, invalid: string[], valid: string[]][] = [
  ['runParameters', 'maxAgentSteps', [...PLURAL, '501', '9'.repeat(9_000), '%00'], ['1', '500']],
  ['runParameters', 'maxTokens', [...PLURAL, '1000000001'], ['1', '1000000000']],
  [
    'runParameters',
    'maxCostUsd',
    ['0', '0.0000001', '-1', '1e3', '1000001', '.5', '5.', '05', '1,5', ''],
    ['0.000001', '1000000'],
  ],
  ['runParameters', 'execMode', ['', 'ASYNC', 'later'], ['sync', 'async']],
  ['runParameters', 'enforceInputSchema', ['', '1', 'TRUE', 'yes'], ['true', 'false']],
  ['runParameters', 'version', ['', '1', 'latest', '%00'], ['01A2003A-d1f2-7169-a695-5ea4428d9251']],
  [
    'runParameters',
    'tenantId',
    ['', 't'.repeat(129), 'a%00b', 'a%0Ab', '%C2%85'],
    ['t'.repeat(128), 'Müller, 50 %25'],
  ],
  ['runParameters', 'webhookUrl', ['', `https://a.example/${'x'.repeat(2_048)}`], ['https://a.example/']],
  ['batchParameters', 'execMode', ['async', 'sync'], []],
  ['batchParameters', 'maxConcurrency', ['0', '501'], ['1', '500']],
  ['executionPageParameters', 'status', ['', 'DONE', 'success'], ['SUCCESS', 'ERROR', 'IN_PROGRESS']],
  ['executionPageParameters', 'waiting', ['yes', ''], ['true', 'false']],
  ['executionPageParameters', 'errorCode', ['', 'x'.repeat(101)], ['x'.repeat(100)]],
  ['executionPageParameters', 'errorText', ['', 'x'.repeat(201)], ['x'.repeat(200)]],
  ['executionPageParameters', 'model', ['', 'x'.repeat(301)], ['x'.repeat(300)]],
  ['executionPageParameters', 'source', ['', 'api'], ['API', 'TRIAL', 'BATCH', 'SCHEDULE']],
  [
    'executionPageParameters',
    'from',
    ['yesterday', '2026-11-22T10:00:00', '2026-11-22'],
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.5%2B01:00'],
  ],
  ['executionPageParameters', 'to', ['2026-13-22T10:00:00Z', ''], ['2026-11-22T10:00:00Z']],
  ['executionPageParameters', 'fields', ['none', ''], ['all', 'summary']],
  ['revocationParameters', 'afterSeconds', ['0', '-1', '1.5', '2592001'], ['1', '2592000']],
  [
    'usageParameters',
    'groupBy',
    ['tenants', 'tenant,tenant', 'tenant,', 'tenant,%20agent'],
    ['tenant,agent,version,model,token'],
  ],
  ['usageParameters', 'interval', ['week', ''], ['minute', 'hour', 'day']],
  ['usageParameters', 'agent', [''], ['echo']],
  ['limitsPageParameters', 'kind', ['token', ''], ['tenant', 'agent']],
  ['trialItemPageParameters', 'verdict', ['WORSE', ''], ['CHANGED']],
]

describe('queryParameters', () => {
  it.each(VALUES)('of %s checks %s', (schema, parameter, invalid, valid) => {
    for (const value of invalid) {
      const result = checkQuery(schema, `${parameter}=${value}`)
      const message = expect.stringMatching(new RegExp(`^${parameter} `))
      const errors = [{ path: parameter, message }]
      expect(result, value).toMatchObject({ code: 'InvalidQueryParameter', errors })
    }
    for (const value of valid) expect(checkQuery(schema, `${parameter}=${value}`), value).toBeUndefined()
  })

  it('reports all violations at once', () => {
    const { errors = [] } = checkQuery('runParameters', 'maxAgentSteps=0&execMode=x&nope=1') ?? {}
    expect(errors.map(({ path }) => path).sort()).toEqual(['execMode', 'maxAgentSteps', 'nope'])
  })

  it('suggests the nearest name, and says that a route takes none', () => {
    expect(messageFor('runParameters', 'execmode=async')).toContain('did you mean execMode?')
    expect(messageFor(undefined, 'limit=1')).toContain('it takes no query parameters')
  })

  it('shortens names, which clients choose', () => {
    const { errors = [] } = checkQuery('pageParameters', `${'n'.repeat(10_000)}=1`) ?? {}
    expect(errors[0]?.path.length).toBeLessThanOrEqual(65)
  })

  it.each(['maxAgentSteps=5&maxAgentSteps=5', 'tenantId=a&tenantId=b'])(
    'rejects a repeated parameter: %s',
    (query) => {
      expect(messageFor('runParameters', query)).toContain('must be given only once')
    },
  )
})

describe('requestHeaders', () => {
  const checkHeader = (schema: ParametersName, name: string, value: string) =>
    check(requestHeaders(parameterSchemas[schema]), { headers: { [name.toLowerCase()]: value } })

  it.each<[ParametersName, string, string[], string[]]>([
    [
      'runHeaders',
      'Idempotency-Key',
      ['', ' ', 'é', 'tab\tin', ' led', 'k'.repeat(256)],
      ['a b', 'k'.repeat(255)],
    ],
    ['eventHeaders', 'Last-Event-ID', ['-1', '1.5', 'abc', '01', '100000'], ['', '0', '7', '99999']],
    ['batchHeaders', 'Last-Event-ID', ['x'.repeat(101)], ['', 'x'.repeat(100)]],
  ])('of %s checks %s', (schema, name, invalid, valid) => {
    const errors = [{ path: name }]
    for (const value of invalid)
      expect(checkHeader(schema, name, value), value).toMatchObject({ code: 'InvalidHeader', errors })
    for (const value of valid) expect(checkHeader(schema, name, value), value).toBeUndefined()
  })
})

describe('encoding', () => {
  /** What API Gateway passes for `%E9`: it decodes the query before it calls the function. */
  const DECODED = 'Caf\ufffd'

  it.each([
    ['a query parameter', { tenantId: ['a', DECODED] }, 'InvalidQueryParameter'],
    ['the name of a query parameter', { [DECODED]: ['a'] }, 'InvalidQueryParameter'],
    ['Unicode', { tenantId: ['Café 😀'] }, undefined],
  ])('checks %s', (_, multiValueQueryStringParameters, code) =>
    expect(check(encoding(), { multiValueQueryStringParameters })?.code).toBe(code),
  )
})

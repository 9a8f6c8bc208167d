import { afterEach, describe, expect, it, vi } from 'vitest'
import { toolsSchema } from '../../lib/tools/document/tools-schema.ts'
import { json, serve } from './serve.ts'
import { call, depsOf, httpTool, openDeclared, secret } from './tools.ts'

type Respond = Parameters<typeof serve>[0]

afterEach(() => vi.unstubAllEnvs())

describe('a secret', () => {
  const headers = {
    Authorization: `Bearer ${secret('SHOP_KEY')}`,
    'X-Two': `${secret('SHOP_KEY')}-${secret('OTHER')}`,
  }

  /** The result of a call that sends headers, and the server that got them. */
  async function send(
    environment: Record<string, string>,
    sent: object,
    respond: Respond = (r) => json(r, null),
  ) {
    const server = await serve(respond)
    const tools = await openDeclared([httpTool(server.host, { headers: sent })], { environment })
    return { server, result: await call(tools, 'get', {}) }
  }

  it('is read from the environment locally', async () => {
    const { server } = await send({ SHOP_KEY: 'abc\n', OTHER: 'def' }, headers)
    expect(server.received[0]?.headers).toMatchObject({ authorization: 'Bearer abc', 'x-two': 'abc-def' })
  })

  it.each([{}, { SHOP_KEY: '' }])(
    'causes an error that names it if it is missing: %j',
    async (environment) => {
      const { server, result } = await send(environment, headers)
      expect(result).toEqual({ ok: false, error: 'Secret SHOP_KEY not found.' })
      expect(server.connections).toHaveLength(0)
    },
  )

  it('is not included in the error if it is not a valid header value', async () => {
    const { result } = await send({ SHOP_KEY: 'abc\r\nX-Evil: 1' }, { A: secret('SHOP_KEY') })
    expect(result).toMatchObject({ ok: false, error: expect.stringContaining('header') })
    expect(JSON.stringify(result)).not.toContain('X-Evil')
  })

  const environment = { SHOP_KEY: `tiger-lily-${'8'.repeat(29)}`, OTHER: 'tiger' }
  /** Lines of 48 characters, with an offset that makes the truncation split a secret. */
  const long = (value: unknown, lines: number) => 'x'.repeat(43) + `${value} `.repeat(lines)
  const ofJson = { 'content-type': 'application/json' }
  const echoes: [string, Respond][] = [
    ['JSON', (r, { headers }) => json(r, { [String(headers.authorization)]: [{ seen: headers }] })],
    ['text', (r, { headers }) => r.end(`you sent ${headers.authorization}, ${headers['x-two']}`)],
    ['an error', (r, { headers }) => json(r, headers, 401)],
    [
      'base64',
      (r, { headers }) => r.end(Buffer.from(String(headers.authorization).slice(7)).toString('base64')),
    ],
    [
      'a redirect',
      (r, { headers: { authorization } }) => r.writeHead(302, { location: `/?key=${authorization}` }).end(),
    ],
    ['invalid JSON', (r, { headers }) => r.writeHead(200, ofJson).end(`{${headers.authorization}`)],
    ['a truncated text', (r, { headers }) => r.end(long(headers.authorization, 30_000))],
    ['an incomplete text', (r, { headers }) => r.end(long(headers.authorization, 300_000))],
  ]
  it.each(echoes)('is masked in %s', async (_, respond) => {
    const result = JSON.stringify((await send(environment, headers, respond)).result)
    expect(result).toContain('[secret SHOP_KEY]')
    expect(result).not.toMatch(/tige|lily|dGlnZXI/)
  })

  it('is masked in numbers', async () => {
    const { result } = await send({ PIN: '123456' }, { A: secret('PIN') }, (r) => json(r, [123456, 1234567]))
    expect(result).toEqual({ ok: true, value: ['[secret PIN]', 1234567] })
  })
})

/**
 * A server for the JSON APIs of both SSM and Secrets Manager, and tools that read from it: test files share a worker's
 * modules, and the clients of one that an earlier file has used have another endpoint.
 */
async function serveStores(parameters: Record<string, string>, secrets: Record<string, string>) {
  const server = await serve((response, { headers, body }) => {
    const isParameter = headers['x-amz-target'] === 'AmazonSSM.GetParameter'
    const { Name, SecretId, WithDecryption } = JSON.parse(body)
    const fail = (__type: string) => json(response, { __type, message: 'no' }, 400)
    if (isParameter && Name.endsWith('/DENIED')) return fail('AccessDeniedException')
    const value = isParameter ? parameters[Name] : secrets[SecretId]
    if (value === undefined) return fail(isParameter ? 'ParameterNotFound' : 'ResourceNotFoundException')
    if (isParameter && !WithDecryption) return fail('NotDecrypted')
    return json(response, isParameter ? { Parameter: { Name, Value: value } } : { SecretString: value })
  })
  const variables = {
    AWS_ENDPOINT_URL_SSM: server.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  vi.resetModules()
  const { openTools } = await import('../../lib/tools/open-tools.ts')
  return { received: server.received, openTools }
}

it('a secret on AWS is read once from Parameter Store or Secrets Manager, never from the environment', async () => {
  const stores = await serveStores({ '/team/ONE': 'from-ssm' }, { '/team/TWO': 'from-manager' })
  const open = (documents: object[], environment: Record<string, string>) =>
    stores.openTools(toolsSchema.parse(documents), depsOf({ environment }))
  const server = await serve((response) => json(response, null))
  const headers = { One: secret('ONE'), Two: secret('TWO') }
  const environment = { SECRETS_PREFIX: '/team/', ONE: 'wrong', TWO: 'wrong', THREE: 'wrong' }
  const documents = [
    httpTool(server.host, { headers }),
    { ...httpTool(server.host, { headers: { Three: secret('THREE') } }), name: 'three' },
    { ...httpTool(server.host, { headers: { Four: secret('DENIED') } }), name: 'four' },
  ]
  const tools = await open(documents, environment)
  expect(await call(tools, 'get', {})).toEqual({ ok: true, value: null })
  expect(server.received[0]?.headers).toMatchObject({ one: 'from-ssm', two: 'from-manager' })
  expect(await call(tools, 'three', {})).toEqual({ ok: false, error: 'Secret THREE not found.' })
  expect(await call(tools, 'four', {})).toEqual({
    ok: false,
    error: 'Could not read the secret DENIED (AccessDeniedException).',
  })

  const requestCount = stores.received.length
  const inLambda = { AWS_LAMBDA_FUNCTION_NAME: 'run', ONE: 'wrong' }
  const others = await open(documents.slice(0, 1), inLambda)
  expect(await call(others, 'get', {})).toMatchObject({ ok: false, error: 'Secret ONE not found.' })
  expect(stores.received.slice(requestCount).map(({ body }) => body)).toContainEqual(
    expect.stringContaining('/aes/secrets/ONE'),
  )
  const cachedCount = stores.received.length
  expect(await call(tools, 'get', {})).toEqual({ ok: true, value: null })
  expect(stores.received.slice(cachedCount).filter(({ body }) => body.includes('/team/ONE'))).toEqual([])
})

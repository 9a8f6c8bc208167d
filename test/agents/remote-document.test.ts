import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkFrontMatter } from './check-front-matter.ts'

/** The front matter has four lines before `remote`. */
const check = (remote: string, source: Parameters<typeof checkFrontMatter>[1] = {}) =>
  checkFrontMatter(
    `title: Refund
input: { order: { type: string, description: The order. } }
output: { done: { type: boolean, description: Whether it is done. } }
remote: ${remote}`,
    source,
  )

const A_URL = 'url: "https://a.example"'

describe('remote in a document', () => {
  // Commands of other tests in this process set it.
  beforeEach(() => void vi.stubEnv('LOOPBACK_ORGANIZATION', undefined))
  afterEach(() => vi.unstubAllEnvs())

  it('is a URL with headers and a timeout, or a Lambda function', async () => {
    const url = 'https://agents.example/refund'
    const { document } = await check(
      `{ url: "${url}", timeoutSeconds: 600, headers: { Authorization: "Bearer \${secret:KEY}" } }`,
      { body: 'For people.' },
    )
    expect(document?.remote).toEqual({
      url,
      timeoutSeconds: 600,
      headers: { Authorization: `Bearer \${secret:KEY}` },
    })
    const lambda = await check('{ lambda: { function: agent-tool-refund }, readOnly: true }')
    expect(lambda.document?.remote).toEqual({
      lambda: { function: 'agent-tool-refund' },
      readOnly: true,
      timeoutSeconds: 60,
    })
  })

  const one = ': must have exactly one of url, lambda, but has'
  const reserved = 'is reserved: the service sets it'
  const fields = 'url, headers, allowedHosts, lambda, timeoutSeconds, readOnly'
  it.each([
    ['{}', `${one} neither`],
    [`{ ${A_URL}, lambda: { function: f } }`, `${one} both`],
    ['"https://a.example"', ': must be an object, not "https://a.example"'],
    [`{ ${A_URL}, timeoutSeconds: 601 }`, '.timeoutSeconds: must be at most 600'],
    [`{ ${A_URL}, timeoutSeconds: 0 }`, '.timeoutSeconds: must be at least 1'],
    ['{ uri: "https://a.example" }', '.uri: unknown field; did you mean "url"?'],
    [`{ ${A_URL}, retries: 3 }`, `.retries: unknown field; allowed fields: ${fields}`],
    ['{ lambda: { name: f } }', '.lambda.name: unknown field; allowed fields: function'],
    ['{ lambda: { function: "a b" } }', '.lambda.function: must be the name or ARN of a Lambda function'],
    [
      '{ lambda: { function: f }, headers: { a: b } }',
      '.headers: must be omitted: a Lambda function has no URL',
    ],
    [
      '{ url: "http://a.example" }',
      '.url: must start with https:// unless allowedHosts contains "a.example"',
    ],
    [
      '{ url: "http://localhost:8000" }',
      '.url: must start with https:// unless allowedHosts contains "localhost:8000"',
    ],
    ['{ url: "https://a.example/#x" }', '.url: must not contain a fragment'],
    [
      `{ url: "https://a.example/\${secret:KEY}" }`,
      '.url: must not contain a secret: secrets are only allowed in header values',
    ],
    [`{ ${A_URL}, headers: { Webhook-Signature: x } }`, `.headers.Webhook-Signature: ${reserved}`],
    [`{ ${A_URL}, headers: { Idempotency-Key: x } }`, `.headers.Idempotency-Key: ${reserved}`],
  ])('%s is wrong', async (remote, problem) => {
    expect((await check(remote)).problems).toContain(`5 remote${problem}`)
  })

  it('is in place of code, and of what a model needs', async () => {
    const url = `{ ${A_URL} }`
    expect((await check(url, { hasCode: true })).problems).toEqual([
      '2 code: must be true because there is code',
    ])
    expect((await check(`${url}\ncode: true`, { hasCode: true })).problems).toEqual([
      '5 remote: must be omitted: code is true',
    ])
    const others =
      'model: openai/gpt-5\nenv: [HOME]\ntools: [{ name: a, agent: b }]\nexecution: { models: [], allowedHosts: [a.example] }\nlearning: { unrated: true }'
    expect((await check(`${url}\n${others}`)).problems).toEqual([
      '6 model: must be omitted: a remote agent has no model',
      '8 tools: must be omitted: a remote agent has no model that could call tools',
      '9 execution.models: must be omitted: a remote agent has no model that a call could override',
      '10 learning: must be omitted: a remote agent does not learn',
      '7 env: must be omitted: a remote agent reads no variables of the service',
      '9 execution.allowedHosts: must be omitted: a remote agent has remote.allowedHosts',
    ])
  })

  it('may have budgets, and files as its input', async () => {
    const budgets = 'execution: { maxTokens: 1000, maxCostUsd: 1 }'
    expect((await check(`{ ${A_URL} }\n${budgets}`)).problems).toEqual([])
  })

  it('may be on the machine of its author there', async () => {
    vi.stubEnv('LOOPBACK_ORGANIZATION', 'any')
    expect((await check('{ url: "http://localhost:8000/refund" }')).problems).toEqual([])
    expect((await check('{ url: "http://10.0.0.1:8000/refund" }')).problems).toHaveLength(1)
  })
})

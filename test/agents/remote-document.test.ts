import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkDocument } from '../../lib/agents/document/check-document.ts'

/** The front matter has four lines before `remote`. */
const check = (remote: string, { hasCode = false, body = '' } = {}) =>
  checkDocument(
    `---
title: Refund
input: { order: { type: string, description: The order. } }
output: { done: { type: boolean, description: Whether it is done. } }
remote: ${remote}
---
${body}`,
    { defaultSlug: 'refund', hasCode, withCode: 'there is code', withoutCode: 'there is none' },
  )

const problemsOf = async (remote: string, source = {}) =>
  (await check(remote, source)).problems.map(({ line, field, message }) => `${line} ${field}: ${message}`)

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

  it.each([
    ['{}', '5 remote: must have exactly one of url, lambda, but has neither'],
    [
      '{ url: "https://a.example", lambda: { function: f } }',
      '5 remote: must have exactly one of url, lambda, but has both',
    ],
    ['"https://a.example"', '5 remote: must be an object, not "https://a.example"'],
    ['{ url: "https://a.example", timeoutSeconds: 601 }', '5 remote.timeoutSeconds: must be at most 600'],
    ['{ url: "https://a.example", timeoutSeconds: 0 }', '5 remote.timeoutSeconds: must be at least 1'],
    ['{ uri: "https://a.example" }', '5 remote.uri: unknown field; did you mean "url"?'],
    [
      '{ url: "https://a.example", retries: 3 }',
      '5 remote.retries: unknown field; allowed fields: url, headers, allowedHosts, lambda, timeoutSeconds, readOnly',
    ],
    ['{ lambda: { name: f } }', '5 remote.lambda.name: unknown field; allowed fields: function'],
    [
      '{ lambda: { function: "a b" } }',
      '5 remote.lambda.function: must be the name or ARN of a Lambda function',
    ],
    [
      '{ lambda: { function: f }, headers: { a: b } }',
      '5 remote.headers: must be omitted: a Lambda function has no URL',
    ],
    [
      '{ url: "http://a.example" }',
      '5 remote.url: must start with https:// unless allowedHosts contains "a.example"',
    ],
    [
      '{ url: "http://localhost:8000" }',
      '5 remote.url: must start with https:// unless allowedHosts contains "localhost:8000"',
    ],
    ['{ url: "https://a.example/#x" }', '5 remote.url: must not contain a fragment'],
    [
      `{ url: "https://a.example/\${secret:KEY}" }`,
      '5 remote.url: must not contain a secret: secrets are only allowed in header values',
    ],
    [
      '{ url: "https://a.example", headers: { Webhook-Signature: x } }',
      '5 remote.headers.Webhook-Signature: is reserved: the service sets it',
    ],
    [
      '{ url: "https://a.example", headers: { Idempotency-Key: x } }',
      '5 remote.headers.Idempotency-Key: is reserved: the service sets it',
    ],
  ])('%s is wrong', async (remote, expected) => {
    const found = await problemsOf(remote)
    expect(found).toContain(expected)
  })

  it('is in place of code, and of what a model needs', async () => {
    const url = '{ url: "https://a.example" }'
    expect(await problemsOf(url, { hasCode: true })).toEqual(['2 code: must be true because there is code'])
    expect(await problemsOf(`${url}\ncode: true`, { hasCode: true })).toEqual([
      '5 remote: must be omitted: code is true',
    ])
    const others =
      'model: openai/gpt-5\nenv: [HOME]\ntools: [{ name: a, agent: b }]\nexecution: { models: [], allowedHosts: [a.example] }\nlearning: { unrated: true }'
    expect(await problemsOf(`${url}\n${others}`)).toEqual([
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
    expect(await problemsOf(`{ url: "https://a.example" }\n${budgets}`)).toEqual([])
  })

  it('may be on the machine of its author there', async () => {
    vi.stubEnv('LOOPBACK_ORGANIZATION', 'any')
    expect(await problemsOf('{ url: "http://localhost:8000/refund" }')).toEqual([])
    expect(await problemsOf('{ url: "http://10.0.0.1:8000/refund" }')).toHaveLength(1)
  })
})

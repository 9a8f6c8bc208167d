import { beforeAll, describe, expect, it, test } from 'vitest'
import { SIMPLE_EMAIL_PATTERNS } from '../agents/redact-pii/email/simple-email-patterns.ts'
import { findInvalidOffsets, redactWith } from '../agents/redact-pii/redaction.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'
import { realTexts } from '../support/real-texts.ts'

const RUN = '/v1/agents/redact-pii/executions'
const texts = realTexts()
let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('redact-pii')
})

describe('redact-pii over HTTP', () => {
  it('is given fifty texts', () => expect(texts).toHaveLength(50))

  test.each(texts)('redacts $path, sync and async alike', async ({ content }) => {
    const sync = await own.call('POST', RUN, { body: { content } })
    expect(sync.status).toBe(200)
    for (const find of SIMPLE_EMAIL_PATTERNS) {
      expect(find(content).length).toBeGreaterThan(0)
      expect(find(sync.json.redactedContent)).toEqual([])
    }
    expect(sync.json.redactedContent).toBe(redactWith(content, sync.json))
    expect(findInvalidOffsets(content, sync.json)).toEqual([])

    const async = await own.call('POST', `${RUN}?execMode=async`, { body: { content } })
    expect(async.status).toBe(202)
    const ended = await finalExecution(own.call, async.json.id)
    expect(ended.status).toBe('SUCCESS')
    expect(ended.output).toEqual(sync.json)
    expect(ended.input).toEqual({ content })
  })
})

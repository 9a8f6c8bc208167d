import { beforeAll, describe, expect, it, test } from 'vitest'
import { SIMPLE_EMAIL_PATTERNS } from '../agents/redact-pii/email/simple-email-patterns.ts'
import { findInvalidOffsets, redactWith } from '../agents/redact-pii/redaction.ts'
import { realTexts } from '../support/data/real-texts.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { waitForExecution } from '../support/service/client.ts'

const texts = realTexts()
let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('redact-pii')
})

describe('redact-pii over HTTP', () => {
  it('has fifty sample texts', () => expect(texts).toHaveLength(50))

  test.each(texts)('redacts $path, sync and async', async ({ content }) => {
    const sync = await org.run('redact-pii', { content })
    expect(sync.status).toBe(200)
    for (const find of SIMPLE_EMAIL_PATTERNS) {
      expect(find(content).length).toBeGreaterThan(0)
      expect(find(sync.json.redactedContent)).toEqual([])
    }
    expect(sync.json.redactedContent).toBe(redactWith(content, sync.json))
    expect(findInvalidOffsets(content, sync.json)).toEqual([])

    const async = await org.run('redact-pii', { content }, 'execMode=async')
    expect(async.status).toBe(202)
    const ended = await waitForExecution(org.call, async.json.id)
    expect(ended.status).toBe('SUCCESS')
    expect(ended.output).toEqual(sync.json)
    expect(ended.input).toEqual({ content })
  })
})

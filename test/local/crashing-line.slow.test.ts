import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { waitUntil } from '../support/processes/wait-until.ts'
import { createLocalClient } from '../support/service/client.ts'
import { startService } from '../support/service/start-service.ts'

const LINES = 40
const CRASHES = 7
const LIMIT_MS = 110_000

const dataDir = mkdtempSync(join(tmpdir(), 'aes-crashing-line-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const DOCUMENT = `---
slug: crashing
title: Crashing
description: Kills its process for one number.
code: true
input:
  number: { type: integer, description: A number. }
output:
  number: { type: integer, description: The same number. }
---
`
const CODE = `import { execSync } from 'node:child_process'
export default async ({ number }) => {
  if (number === ${CRASHES}) execSync('kill -9 ' + process.pid)
  return { number }
}`

it(
  'a line that kills its worker each time fails, and all others of its batch succeed',
  async () => {
    const environment = { LEASE_SECONDS: '2', RETRY_BACKOFF_MS: '100' }
    const service = await startService({ dataDir, environment })
    try {
      const call = createLocalClient(service.url, dataDir)
      const published = await call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })
      expect(published.status, published.text).toBe(201)
      const body = Array.from({ length: LINES }, (_, number) => ({
        customId: String(number),
        input: { number },
      }))
      const accepted = await call('POST', '/v1/agents/crashing/batches?maxConcurrency=4', { body })
      const { id } = accepted.json
      const read = async () => (await call('GET', `/v1/batches/${id}`)).json
      await waitUntil(async () => (await read()).status === 'ENDED', {
        what: 'the end of the batch',
        limitMs: LIMIT_MS,
        intervalMs: 200,
      })
      expect((await read()).counts).toEqual({ IN_PROGRESS: 0, SUCCESS: LINES - 1, ERROR: 1 })
      const { text } = await call('GET', `/v1/batches/${id}/results`)
      const results = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(results.map(({ output }) => output?.number)).toEqual(
        body.map((_, number) => (number === CRASHES ? undefined : number)),
      )
      expect(results[CRASHES].error.code).toBe('AttemptsExhausted')
    } finally {
      await service.kill()
    }
  },
  LIMIT_MS + 30_000,
)

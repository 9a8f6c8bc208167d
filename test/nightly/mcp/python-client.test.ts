import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization } from '../../support/engine/organization.ts'
import { hasPython } from '../../support/processes/python-environment.ts'
import { pythonOfTests } from '../../support/processes/python-of-tests.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const SCRIPT = fileURLToPath(new URL('python/client.py', import.meta.url))
const services = temporaryServices()

// The client is installed with pip.
describe.skipIf(!(await hasPython()))('the official Python client', () => {
  const python = pythonOfTests(new URL('python/requirements.txt', import.meta.url))
  let service: { url: string }
  beforeAll(async () => {
    const environment = { DYNAMODB_ENDPOINT: inject('dynamodb'), SYNC_DEADLINE_SECONDS: '2' }
    service = await services.start(services.newFolder(), environment)
  })

  it.each([
    ['auto', '2026-07-28'],
    ['legacy', '2025-11-25'],
  ])('lists, calls, resumes and cancels (%s)', async (mode, version) => {
    const { token, publish } = await newOrganization()
    await publish('counted')
    await publish('marked-steps')
    const { stdout } = await promisify(execFile)(python(), [SCRIPT, service.url, token, mode])
    expect(JSON.parse(stdout)).toEqual({
      version,
      tools: [
        'get_execution',
        'cancel_execution',
        'list_executions',
        'decide_approval',
        'send_signal',
        'marked-steps',
        'counted',
      ],
      progress: [1, 2, 3],
      called: { marker: 'm', total: expect.any(Number) },
      mismatch: [true, expect.stringContaining('/marker')],
      pending: [false, 'IN_PROGRESS'],
      resumed: 'SUCCESS',
      cancelled: 'Cancelled',
    })
  })
})

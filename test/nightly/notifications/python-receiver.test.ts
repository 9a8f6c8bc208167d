import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { newSecret, signWebhook } from '../../../lib/tools/egress/sign-webhook.ts'
import { hasPython } from '../../support/processes/python-environment.ts'
import { pythonOfTests } from '../../support/processes/python-of-tests.ts'

const SCRIPT = fileURLToPath(new URL('python/verify.py', import.meta.url))

const [, CODE = ''] = /^```python\n(.*?)^```/ms.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? []
const BODY = '{"type":"execution.succeeded","data":{"id":"01","output":"größe 💡"}}'
const SECRET = newSecret()

const secretOf = (secret: string) => ({ secret, createdAt: '', expiresAt: null })
const requestOf = (secrets: string[], changes: { body?: string; now?: number } = {}) => ({
  body: changes.body ?? BODY,
  headers: signWebhook({
    eventId: 'evt_1',
    body: BODY,
    secrets: secrets.map(secretOf),
    now: changes.now ?? Date.now(),
  }),
  secret: SECRET,
})

// The public package is installed with pip.
describe.skipIf(!(await hasPython()))('the Python example of the documentation', () => {
  const python = pythonOfTests(new URL('python/requirements.txt', import.meta.url))

  it('accepts signed events, also during a rotation, and no others', () => {
    const requests = [
      requestOf([SECRET]),
      requestOf([newSecret(), SECRET]),
      requestOf([newSecret()]),
      requestOf([SECRET], { body: `${BODY} ` }),
      requestOf([SECRET], { now: Date.now() - 301_000 }),
    ]
    const input = JSON.stringify({ code: CODE, requests })
    const { stdout, stderr } = spawnSync(python(), [SCRIPT], {
      input,
      encoding: 'utf8',
      env: { PYTHONIOENCODING: 'utf-8' },
    })
    expect(stderr).toBe('')
    expect(stdout).toBe('01 größe 💡\n204\n01 größe 💡\n204\n400\n400\n400\n')
  })
})

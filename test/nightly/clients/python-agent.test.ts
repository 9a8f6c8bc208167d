import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aRemoteRun } from '../../support/engine/remote-run.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { hasPython, installPython } from '../../support/processes/python-environment.ts'
import { freePort } from '../../support/service/port-emulators.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const SOURCE = fileURLToPath(new URL('../../../clients/python/src', import.meta.url))

/** A run of the agent in `remote_agent.py`, which uvicorn serves. */
async function aPythonRun(question: string) {
  const host = `127.0.0.1:${await freePort()}`
  const run = await aRemoteRun({ host, url: `http://${host}/agent` }, { execution: { input: { question } } })
  const secrets = await run.stores.webhooks.getSigningSecrets({ organizationId: run.organizationId })
  const commandOf = await installPython(new URL('requirements.txt', import.meta.url))
  const env = { ...process.env, PYTHONPATH: SOURCE, AGENT_EXECUTION_SECRET: secrets[0]?.secret ?? '' }
  const args = ['remote_agent:app', '--port', host.split(':')[1] ?? '', '--log-level', 'warning']
  const child = spawn(commandOf('uvicorn'), args, { cwd: FOLDER, env, stdio: 'inherit' })
  onTestFinished(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const isUp = () => fetch(`http://${host}/agent`).then(Boolean, () => false)
  await waitUntil(isUp, { what: 'uvicorn', limitMs: 60_000 })
  return run
}

describe.skipIf(!(await hasPython()))('an agent in Python', () => {
  it('streams its steps and its usage to the record, and returns its output', async () => {
    const run = await aPythonRun('Why?')
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'Why? Because.' } })
    const steps = (await run.steps()).map(({ step }) => step)
    expect(steps).toMatchObject([
      { kind: 'CODE', name: 'think', value: { hard: true } },
      { kind: 'MODEL', text: 'Because.', usage: { inputTokens: 10, outputTokens: 2 } },
    ])
  })

  it('fails with its own message', async () => {
    const run = await aPythonRun('')
    await run.process()
    expect(await run.stored()).toMatchObject({
      status: 'ERROR',
      error: { code: 'AgentFailed', message: expect.stringContaining('Ask something.') },
    })
  })
})

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'

const run = promisify(execFile)

/** Ids and times differ from run to run. */
const normalize = (text: string) =>
  text
    .replaceAll(/"(id|executionId)":"[^"]+"/g, '"$1":"…"')
    .replaceAll(/"receivedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"receivedAt":"…"')

it('prints what docs/waiting.md says of signals', async () => {
  const own = await newOrganization()
  await own.publish('waits')
  const { json } = await own.run('waits', { signal: 'other' })
  const variables = {
    URL: `${inject('service')}/v1`,
    AUTH: `Authorization: Bearer ${own.token}`,
    JSON: 'Content-Type: application/json',
    ID: json.id,
  }
  const [, transcript = ''] = /^```console\n(.*?)^```/ms.exec(readFileSync('docs/waiting.md', 'utf8')) ?? []
  const commands = [...transcript.matchAll(/^\$ (.*)\n(.*)\n/gm)]
  expect(commands).toHaveLength(2)
  for (const [, command = '', output = ''] of commands) {
    const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, ...variables } })
    expect(normalize(stdout)).toBe(normalize(output))
  }
})

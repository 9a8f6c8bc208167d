import { expect, it } from 'vitest'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'

const KEY = 'sk-of-the-shop-0123456789'
const MAX_LOG = 16_000
const MAX_MESSAGE = 4_000

/** Runs the body of an agent whose environment has the secret `KEY`. @returns its log and the message of its error */
async function run(body: string) {
  const code = `export default async () => { const { KEY } = process.env; ${body}; return {} }`
  const version = await aModelAgent({ code: true, env: ['KEY'], inputSchema: {}, outputSchema: {} }, { code })
  const engine = { ...engineOn(sharedTable()), environment: { KEY } }
  const options = runOptions()
  const { logs, error } = await runInProcess(engine, { version, input: {}, tenantId: null, options })
  return { logs: logs ?? '', message: error?.message ?? '' }
}

/** The longest part of the secret that a text contains. */
function longestPart(text: string): number {
  for (let size = KEY.length; size > 0; size--)
    for (let start = 0; start + size <= KEY.length; start++)
      if (text.includes(KEY.slice(start, start + size))) return size
  return 0
}

it.each([1, 10, KEY.length - 4])(
  'no part of a secret remains at the start of a log that is cut at %i',
  async (at) => {
    const { logs } = await run(`console.log(KEY + '.'.repeat(${MAX_LOG - 1 - KEY.length + at}))`)
    expect(logs).toContain('....')
    expect(longestPart(logs)).toBeLessThan(4)
  },
)

it.each([
  ['the agent', `console.log('🦊'.slice(0, 1))`, '\ufffd\n'],
  ['the cut', `console.log('🦊' + '.'.repeat(${MAX_LOG - 2}))`, `\ufffd${'.'.repeat(MAX_LOG - 2)}\n`],
])('a log in which %s splits a surrogate pair is stored', async (_, body, expected) => {
  expect((await run(body)).logs).toBe(expected)
})

it('a secret that is printed in parts is masked', async () => {
  const { logs } = await run(`
    for (const character of KEY) {
      process.stdout.write(character)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    console.log('!')`)
  expect(logs).toBe('[secret KEY]!\n')
})

it.each([1, 10, KEY.length - 1])(
  'no part of a secret remains at the end of a message that is cut at %i',
  async (at) => {
    const { message } = await run(`throw new Error('.'.repeat(${MAX_MESSAGE - at}) + KEY + '.')`)
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE)
    expect(longestPart(message)).toBeLessThan(4)
  },
)

it('no part of a secret remains in a message that consists of secrets and is cut in the thread', async () => {
  const { message } = await run(`throw new Error(KEY.repeat(64_000 / KEY.length + 2).slice(0, 64_000 + 10))`)
  expect(longestPart(message.replaceAll('[secret KEY]', ''))).toBeLessThan(4)
})

it('the end of the log is stored although it may be the beginning of a secret', async () => {
  expect((await run(`process.stdout.write('the end: sk')`)).logs).toBe('the end: sk')
  expect((await run(`process.stdout.write('the end: sk-of-the')`)).logs).toBe('the end: [secret KEY]')
})

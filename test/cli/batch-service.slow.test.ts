import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
})

const run = (args: string[], stdin = '') =>
  cli.run([...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: own.token }, stdin })

async function json(args: string[], expected = 0) {
  const { code, stdout, stderr } = await run([...args, '--json'])
  if (code !== expected) throw new Error(stdout + stderr)
  return JSON.parse(stdout)
}
const COUNT = 30
const nameOf = (n: number) => `line ${n}`

describe('agents batch on the service', () => {
  it('runs all lines, and its batch is listed, shown, read again, retried and deleted', async () => {
    const texts = Array.from({ length: COUNT }, (_, n) => `${n} ü`)
    const lines = texts.map((text, n) => `${JSON.stringify({ customId: nameOf(n), input: { text } })}\n`)
    cli.write({ 'in.ndjson': lines.join('') })
    const summary = await json(['batch', 'echo', 'in.ndjson', '--out', 'out.ndjson', '--concurrency', '20'])
    expect(summary).toMatchObject({ lines: COUNT, succeeded: COUNT, failed: 0 })
    const written = readFileSync(join(cli.folder, 'out.ndjson'), 'utf8')
    const results = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(results.map(({ customId, output }) => [customId, output.text])).toEqual(
      texts.map((text, n) => [nameOf(n), text]),
    )
    const [id] = summary.batches
    expect((await run(['batches'])).stdout).toMatch(
      new RegExp(`${id} +echo +ENDED +${COUNT} of ${COUNT} +0 `),
    )
    expect((await run(['batches', 'get', id])).stdout).toContain(`ended          ${COUNT} of ${COUNT}\n`)
    expect((await run(['batches', 'results', id])).stdout).toBe(written)
    const retried = await run(['batches', 'retry', id])
    expect([retried.code, retried.stderr]).toEqual([1, expect.stringContaining('Cannot retry the batch')])
    expect(await json(['batches', 'cancel', id])).toMatchObject({ status: 'ENDED' })
    expect(await json(['batches', 'delete', id])).toEqual({ id, deleted: true })
    const gone = await run(['batches', 'get', id])
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('Cannot get the batch')])
  })

  it('lists lines that the service refuses, and checks only', async () => {
    const lines = '\n{"customId":"a","input":{"text":"x"}}\n{"customId":"b","input":{"txt":7}}\n'
    for (const more of [[], ['--validate']]) {
      const { code, stderr } = await run(['batch', 'echo', '-', '--strict', ...more], lines)
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^Line 3: .*\nStandard input has 1 bad line\.\n$/),
      ])
    }
    const { code, stdout } = await run(['batch', 'echo', '-', '--validate'], lines)
    expect([code, stdout]).toEqual([0, 'standard input: 2 lines are valid.\n'])
  })

  it('finds the batch that a command with the same key has started', async () => {
    const args = ['batch', 'echo', '-', '--idempotency-key', 'k1']
    const first = await run(args, '{"text":"x"}\n')
    const second = await run(args, '{"text":"x"}\n')
    expect([first.code, second.stdout]).toEqual([0, first.stdout])
    const { code, stderr } = await run(args, '{"text":"y"}\n')
    expect([code, stderr]).toEqual([1, expect.stringContaining('Cannot run the batch')])
  })
})

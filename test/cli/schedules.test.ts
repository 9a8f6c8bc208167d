import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
  await own.publish('wait')
})

const run = (args: string[], stdin = '') =>
  cli.run(['schedules', ...args, '--url', inject('service')], {
    environment: { AGENTS_TOKEN: own.token },
    stdin,
  })
async function json(args: string[], stdin = '') {
  const { code, stdout, stderr } = await run([...args, '--json'], stdin)
  if (code !== 0) throw new Error(stdout + stderr)
  return JSON.parse(stdout)
}

describe('schedules', () => {
  it('are set, listed, shown, paused, resumed, run and deleted', async () => {
    expect((await run(['list', 'echo'])).stdout).toBe(
      'The agent has no schedules. Create one: npm run agents -- schedules set echo <name> --cron <expression>\n',
    )
    const input = '{"text":"x"}'
    const options = ['--timezone', 'Europe/Berlin', '--overlap', 'allow', '--catch-up', '60', '--cache']
    const set = ['set', 'echo', 'nightly', '--cron', '0 3 * * *', ...options]
    const fields = {
      ...{
        name: 'nightly',
        cron: '0 3 * * *',
        timezone: 'Europe/Berlin',
        overlap: 'allow',
        catchUpSeconds: 60,
      },
      ...{ tenantId: null, version: null, options: { useCache: true }, input: { text: 'x' } },
    }
    expect(await json([...set, '--input', input, '--paused'])).toMatchObject({ ...fields, enabled: false })
    expect((await run(['list', 'echo'])).stdout).toMatch(/nightly +0 3 \* \* \* +Europe\/Berlin +paused +-\n/)
    cli.write({ 'input.json': input })
    for (const [source, stdin] of [['input.json'], ['-', input]] as const)
      expect(await json([...set, '--input', source], stdin)).toMatchObject({ ...fields, enabled: true })
    expect(await json(['pause', 'echo', 'nightly'])).toMatchObject({
      ...fields,
      enabled: false,
      nextRunAt: null,
    })
    const resumed = await run(['resume', 'echo', 'nightly'])
    expect(resumed.stdout).toMatch(/^Resumed the schedule nightly\. It runs next in \d+ \w+\.\n$/)
    expect(await json(['get', 'echo', 'nightly'])).toMatchObject({ ...fields, enabled: true })
    expect((await run(['get', 'echo', 'nightly'])).stdout).toContain(
      'cron        0 3 * * * (Europe/Berlin)\n',
    )
    expect(await json(['run', 'echo', 'nightly'])).toMatchObject({
      source: 'SCHEDULE',
      scheduleName: 'nightly',
    })
    expect(await json(['delete', 'echo', 'nightly'])).toEqual({ name: 'nightly', deleted: true })
    expect(await json(['list', 'echo'])).toEqual([])
  })

  it('keep all digits of their input when they are paused', async () => {
    const input = '{"seconds":1.00000000000000000001}'
    await json(['set', 'wait', 'digits', '--cron', '@daily', '--input', input])
    const { stdout } = await run(['pause', 'wait', 'digits', '--json'])
    expect(stdout).toContain('1.00000000000000000001')
  })

  it.each<[string[], RegExp]>([
    [['set', 'echo', 'x'], /required option '--cron/],
    [['set', 'echo', 'x', '--cron', 'never'], /Cannot set the schedule: .*cron/],
    [['set', 'echo', 'x', '--cron', '@daily', '--timezone', 'Mars'], /timezone/],
    [
      ['set', 'echo', 'x', '--cron', '@daily', '--input', '{"a":'],
      /--input must be a JSON object, .* not valid JSON/,
    ],
    [['set', 'echo', 'x', '--cron', '@daily', '--input', '[]'], /--input must be a JSON object/],
    [['set', 'echo', 'x', '--cron', '@daily', '--overlap', 'maybe'], /Allowed choices are skip, allow/],
    [['get', 'echo', '..'], /'\.\.' is invalid for argument 'name'\. It must have 1 to 64/],
    [['delete', 'echo', ''], /It must have 1 to 64/],
    [['pause', 'echo', 'missing'], /Cannot pause the schedule/],
    [['ste', 'echo'], /Did you mean set\?/],
  ])('say what is wrong with %j', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: expect.any(Number), stdout: '' })
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
  })
})

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId } from '../support/service/client.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  for (const slug of ['echo', 'failing']) await own.publish(slug)
})

const service = () => ['--url', inject('service'), '--token', own.token]
const newExecution = async (slug = 'echo', input: object = { text: 'x' }) =>
  getExecutionId(await own.run(slug, input))

describe('agents rerun', () => {
  it('starts a run, and says how to compare the two', async () => {
    const id = await newExecution()
    const { code, stdout } = await cli.run(['rerun', id, ...service()])
    expect(code).toBe(0)
    const [, again = ''] = /^Execution (\S+) repeats/.exec(stdout) ?? []
    expect(stdout).toContain(`compare ${id} ${again}`)
    expect(await own.getExecution(again)).toMatchObject({ originalExecutionId: id, source: 'API' })
  })

  it('waits with --wait, and compares', async () => {
    const { code, stdout } = await cli.run(['rerun', await newExecution(), '--wait', ...service()])
    expect({ code, isSame: stdout.includes('The results are the same.') }).toEqual({ code: 0, isSame: true })
    const failed = await cli.run(['rerun', await newExecution('failing', {}), '--wait', ...service()])
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/failed with OutputSchemaMismatch/),
    })
  })

  it('passes its options on', async () => {
    const id = await newExecution()
    const record = await cli.json([
      'rerun',
      id,
      '--steps',
      'recorded',
      '--ignore',
      '/at,/b',
      '--wait',
      ...service(),
    ])
    expect(record).toMatchObject({ source: 'TRIAL', originalExecutionId: id, status: 'SUCCESS' })
    const unknown = await cli.run(['rerun', id, '--tools', 'recorded,search=live', ...service()])
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('search') })
  })

  it.each([
    [['x'], 'It must be a UUID.'],
    [['01a2003a-d1f2-7169-a695-5ea4428d9251', '--tools', 'dead'], 'It must be recorded, live, or a list'],
    [['01a2003a-d1f2-7169-a695-5ea4428d9251', '--models', 'dead'], 'Allowed choices are recorded, live.'],
    [['01a2003a-d1f2-7169-a695-5ea4428d9251', '--from-step', '0'], 'It must be an integer from 1'],
  ])('rejects %j', async (args, message) => {
    const { code, stderr } = await cli.run(['rerun', ...args])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})

describe('agents compare', () => {
  it('shows two executions side by side, and what differs', async () => {
    const [left, right] = [await newExecution(), await newExecution('echo', { text: 'y\u001b[31m' })]
    const { code, stdout } = await cli.run(['compare', left, right, ...service()])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`LEFT +RIGHT\\nexecution +${left} +${right}\\n`))
    expect(stdout).toContain('/output/text\n  - "x"\n  + "y')
    expect(stdout).not.toContain('\u001b')
    expect(await cli.json(['compare', left, right, ...service()])).toMatchObject({
      differences: [{ path: '/output/text', left: 'x' }],
    })
    expect(
      await cli.run(['compare', left, '01a2003a-d1f2-7169-a695-5ea4428d9251', ...service()]),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('Cannot compare the executions') })
  })
})

import { describe, expect, it } from 'vitest'
import type { Replay } from '../../../lib/core/trial.ts'
import { answer, aRemote, aRemoteRun } from '../../support/engine/remote-run.ts'

const RECORDED: Omit<Replay, 'executionId'> = {
  tools: { default: 'recorded' },
  models: 'recorded',
  steps: 'recorded',
  ignore: [],
  fromStep: 1,
  isTrial: true,
  defaultModel: null,
}

describe('a remote agent in a trial', () => {
  it.each([
    [false, 1],
    [true, 2],
  ])('is called only if it says readOnly: %s', async (readOnly, calls) => {
    const remote = await aRemote((response, _, number) => answer(response, { answer: `No. ${number}` }))
    const original = await aRemoteRun(remote)
    await original.process()
    const { organizationId } = original
    const trial = await aRemoteRun(remote, {
      remote: { readOnly },
      agent: { organizationId, slug: original.version.slug },
      execution: { replay: { ...RECORDED, executionId: original.id } },
    })
    await trial.process()
    expect(remote.asked).toHaveLength(calls)
    expect(await trial.stored()).toMatchObject({
      output: { answer: `No. ${calls}` },
      judgement: { verdict: readOnly ? 'CHANGED' : 'SAME' },
    })
  })

  it('repeats the error of its original, and diverges from one that asked no remote agent', async () => {
    const remote = await aRemote((response) => answer(response, { message: 'No order.' }, 404))
    const original = await aRemoteRun(remote)
    await original.process()
    const { organizationId } = original
    const of = (executionId: string) => ({
      agent: { organizationId, slug: original.version.slug },
      execution: { replay: { ...RECORDED, executionId } },
    })
    const trial = await aRemoteRun(remote, of(original.id))
    await trial.process()
    expect(await trial.stored()).toMatchObject({
      error: { code: 'AgentFailed', message: 'No order.' },
      judgement: { verdict: 'SAME' },
    })
    const local = await aRemoteRun(null, {
      agent: { organizationId, slug: original.version.slug, remote: undefined as never },
    })
    await local.process()
    const diverged = await aRemoteRun(remote, of(local.id))
    await diverged.process()
    expect(await diverged.stored()).toMatchObject({ error: { code: 'Diverged' } })
    expect(remote.asked).toHaveLength(1)
  })
})

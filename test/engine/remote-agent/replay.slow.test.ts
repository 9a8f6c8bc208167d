import { describe, expect, it } from 'vitest'
import { answer, aRemoteRun } from '../../support/engine/remote-run.ts'
import { replayOf } from '../../support/replay/a-replay.ts'
import { aProcessedRun } from './processed-run.ts'

type Run = Awaited<ReturnType<typeof aRemoteRun>>

/** The options make a run repeat `of` with the recorded responses of its models. */
const optionsOf = ({ organizationId, version: { slug } }: Run, of: { id: string }) => ({
  agent: { organizationId, slug },
  execution: { replay: replayOf(of, { models: 'recorded' }) },
})

describe('a remote agent in a trial', () => {
  it.each([
    [false, 1],
    [true, 2],
  ])('is called only if it says readOnly: %s', async (readOnly, calls) => {
    const { remote, run: original } = await aProcessedRun((response, _, number) =>
      answer(response, { answer: `No. ${number}` }),
    )
    const trial = await aRemoteRun(remote, { remote: { readOnly }, ...optionsOf(original, original) })
    await trial.process()
    expect(remote.asked).toHaveLength(calls)
    expect(await trial.stored()).toMatchObject({
      output: { answer: `No. ${calls}` },
      judgement: { verdict: readOnly ? 'CHANGED' : 'SAME' },
    })
  })

  it('repeats the error of its original, and diverges from one that asked no remote agent', async () => {
    const { remote, run: original } = await aProcessedRun((response) =>
      answer(response, { message: 'No order.' }, 404),
    )
    const trial = await aRemoteRun(remote, optionsOf(original, original))
    await trial.process()
    expect(await trial.stored()).toMatchObject({
      error: { code: 'AgentFailed', message: 'No order.' },
      judgement: { verdict: 'SAME' },
    })
    const { agent } = optionsOf(original, original)
    const local = await aRemoteRun(null, { agent: { ...agent, remote: undefined as never } })
    await local.process()
    const diverged = await aRemoteRun(remote, optionsOf(original, local))
    await diverged.process()
    expect(await diverged.stored()).toMatchObject({ error: { code: 'Diverged' } })
    expect(remote.asked).toHaveLength(1)
  })
})

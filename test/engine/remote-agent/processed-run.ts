import { aRemote, aRemoteRun, type Behave } from '../../support/engine/remote-run.ts'

/** A run of a remote agent that behaves so, which a worker has processed once. */
export async function aProcessedRun(behave: Behave, options: Parameters<typeof aRemoteRun>[1] = {}) {
  const remote = await aRemote(behave)
  const run = await aRemoteRun(remote, options)
  await run.process()
  return { remote, run, execution: await run.stored() }
}

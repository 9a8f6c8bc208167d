import type { Json } from '../../core/json/json.ts'
import type { Recording } from '../../core/recording.ts'
import type { Engine } from '../engine.ts'
import { Diverged } from '../replay/diverged.ts'
import { RemoteFailure } from './remote-failure.ts'

/**
 * The output of the original: a trial calls no agent that may change something, as it calls no such tool.
 * @throws RemoteFailure with the error of the original; Diverged if the original asked no remote agent; Unavailable
 */
export async function replayRemote(
  { engine }: { engine: Pick<Engine, 'agents'> },
  { original, ofCase }: Recording,
): Promise<Json> {
  const { organizationId, agentId, versionId: id, output, error } = original
  const version = ofCase ? null : await engine.agents.getVersion({ organizationId, agentId, id })
  if (!ofCase && !version?.remote) throw new Diverged(NOT_REMOTE, { versionId: id })
  if (error) throw new RemoteFailure(error.message, { code: error.code })
  return output
}

const NOT_REMOTE =
  'The original did not ask a remote agent. A trial calls one only if its document says remote.readOnly: true.'

import { useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { nameOfVersion } from '../api/agents.ts'
import { post } from '../api/request.ts'
import { announce } from '../components/button.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { VersionName } from '../components/values.tsx'
import { say } from '../components/visible-text.tsx'
import { ReleaseError } from './gate.tsx'
import { newestEnded, TrialChoice, useRelease } from './release.tsx'
import { isOlder } from './version-state.tsx'

type Props = {
  agent: AgentRecord
  version: Pick<VersionRecord, 'id' | 'status'>
  /** With the agent after the promotion, or as somebody else has changed it meanwhile. */
  onChange: (agent: AgentRecord) => void
  onClose: () => void
}

export function PromoteDialog({ agent, version: given, onChange, onClose }: Props) {
  // As the dialog was opened: somebody else may end its rollout meanwhile.
  const [version] = useState(given)
  const { data, error: loadError, reload } = useRelease(agent, version.id)
  const [chosen, setChosen] = useState<string | null>(null)
  const isBack = isOlder(version, agent.currentVersionId)
  // Without its gate, a promotion could lack the trial.
  const isLoading = !isBack && !data && !loadError
  // Going back needs no trial: none is given unless it is chosen.
  const trial = chosen ?? (isBack || !data?.gate ? '' : (newestEnded(data.trials)?.id ?? ''))
  async function send() {
    await assertUnchanged(agent, onChange)
    const promoted = await post<AgentRecord>(`/v1/agents/${agent.id}/versions/${version.id}/promote`, {
      query: { trial },
    })
    announce('The version is current.')
    onClose()
    onChange(promoted)
  }
  return (
    <FormDialog
      title={isBack ? 'Roll back to this version?' : 'Promote this version?'}
      submit={isBack ? 'Roll back' : 'Promote'}
      close="Leave it as it is"
      isDanger
      isReady={!isLoading}
      showError={(error) => <ReleaseError error={error} agent={agent.slug} versionId={version.id} />}
      {...{ send, onClose }}
    >
      <Consequences agent={agent} version={version} />
      {loadError && <ErrorBox error={loadError} onRetry={reload} />}
      {!data && !loadError && (
        <p class="muted" role="status">
          Loading what the current version asks for…
        </p>
      )}
      {data && !isBack && (
        <TrialChoice {...data} value={trial} onChange={setChosen} agent={agent.slug} versionId={version.id} />
      )}
    </FormDialog>
  )
}

function Consequences({ agent, version }: Pick<Props, 'agent' | 'version'>) {
  const { currentVersionId: current, rollout } = agent
  return (
    <>
      <p>
        Within a second, new runs that name no version get <strong>{nameOfVersion(version)}</strong>
        {current !== null && say` instead of ${<VersionName agent={agent.slug} versionId={current} />}`}. Runs
        in progress finish on the version that they began with. Schedules of the document follow.
        {rollout !== null && ' The rollout in progress ends.'}
      </p>
      <p>
        {current !== null
          ? say`To undo it, promote ${<VersionName agent={agent.slug} versionId={current} />} again: it stays published.`
          : 'There is no other version to return to. To stop the runs, archive the agent.'}
      </p>
    </>
  )
}

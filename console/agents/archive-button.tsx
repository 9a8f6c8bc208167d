import { useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { requestJson } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { useMayManage } from '../state/session.ts'

type Props = { agent: AgentRecord; onChange: (agent: AgentRecord) => void }

/** Archives an agent, or restores it; nothing for tokens that may not. */
export function ArchiveButton({ agent, onChange }: Props) {
  const [opened, setOpened] = useState<'archive' | 'restore' | null>(null)
  const change = async (action: 'archive' | 'restore') => {
    onChange(await requestJson<AgentRecord>(`/v1/agents/${agent.id}/${action}`, { method: 'POST' }))
    announce(action === 'archive' ? 'The agent is archived.' : 'The agent is restored.')
    setOpened(null)
  }
  const close = () => setOpened(null)
  if (!useMayManage()) return null
  return (
    <>
      {agent.archivedAt === null ? (
        <button type="button" class="danger" onClick={() => setOpened('archive')}>
          Archive…
        </button>
      ) : (
        <button type="button" onClick={() => setOpened('restore')}>
          Restore…
        </button>
      )}
      {opened === 'archive' && (
        <ConfirmDialog
          title="Archive this agent?"
          label="Archive"
          keepLabel="Keep it active"
          action={() => change('archive')}
          onClose={close}
        >
          <p>
            Within a second, all new runs of it are refused, also those of schedules and of agents that call
            it. Lists leave it out. Runs in progress finish, and its history stays readable.
          </p>
          <p>To undo it, restore the agent on this page; the list of agents shows archived ones, too.</p>
        </ConfirmDialog>
      )}
      {opened === 'restore' && (
        <ConfirmDialog
          title="Restore this agent?"
          label="Restore"
          keepLabel="Keep it archived"
          action={() => change('restore')}
          onClose={close}
        >
          <p>
            Runs, versions and schedules work again as before it was archived. To undo it, archive the agent
            again.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

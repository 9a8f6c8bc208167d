import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../../lib/api/schemas/execution-record.ts'
import { useAgents } from '../../api/agents.ts'
import { toHref, toPath } from '../../state/location.ts'
import { useScope } from '../../state/me.ts'
import { CancelDialog } from './cancel-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { FeedbackDialog } from './feedback-dialog.tsx'

type Props = {
  run: ExecutionRecord
  /** With the record after an action. */
  onChange: (run: ExecutionRecord) => void
  onDelete: () => void
}

/** What can be done with a run in its state and with the scopes of the token. */
export function RunActions({ run, onChange, onDelete }: Props) {
  const [opened, setOpened] = useState<'cancel' | 'delete' | 'feedback' | null>(null)
  const [mayRun, mayManage, mayReview] = [useScope('run'), useScope('manage'), useScope('review')]
  const slug = useAgents()?.get(run.documentId)?.slug ?? run.documentId
  const isOpen = run.status === 'IN_PROGRESS'
  const close = () => setOpened(null)
  return (
    <>
      {mayRun && (
        <a class="button" href={toHref(toPath('agents', slug, 'try'), { from: run.id })}>
          Run again…
        </a>
      )}
      {(mayRun || mayManage || mayReview) && !isOpen && (
        <button type="button" onClick={() => setOpened('feedback')}>
          {run.feedback ? 'Change feedback…' : 'Give feedback…'}
        </button>
      )}
      {mayRun && isOpen && (
        <button type="button" class="danger" onClick={() => setOpened('cancel')}>
          Cancel run…
        </button>
      )}
      {mayManage && !isOpen && (
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          Delete…
        </button>
      )}
      {opened === 'cancel' && <CancelDialog run={run} onChange={onChange} onClose={close} />}
      {opened === 'delete' && <DeleteDialog run={run} onDelete={onDelete} onClose={close} />}
      {opened === 'feedback' && <FeedbackDialog run={run} onChange={onChange} onClose={close} />}
    </>
  )
}

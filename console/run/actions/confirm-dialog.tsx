import type { ComponentChildren } from 'preact'
import { Dialog } from '../../components/page/dialog.tsx'
import { ErrorBox } from '../../components/page/error-box.tsx'
import { useAction } from './use-action.ts'

type Props = {
  title: string
  /** On the button that does it. */
  label: string
  /** On the button that does not. */
  keepLabel: string
  children: ComponentChildren
  action: () => Promise<void>
  onClose: () => void
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, label, keepLabel, children, action, onClose }: Props) {
  const { isRunning, error, start } = useAction(action)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="form">
        {children}
        {error && <ErrorBox error={error} />}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {keepLabel}
          </button>
          <button type="button" class="danger" disabled={isRunning} onClick={start}>
            {label}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

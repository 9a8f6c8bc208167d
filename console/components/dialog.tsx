import type { ComponentChildren, ComponentProps } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, asApiError } from '../api/api-error.ts'
import { currentLocation, hrefHere, navigate } from '../state/location.ts'
import { Button } from './button.tsx'
import { Text } from './visible-text.tsx'

type DialogProps = {
  title: string
  onClose: () => void
  /** Only a button of the dialog closes it: it shows what cannot be shown again. */
  isKept?: boolean
  children: ComponentChildren
}

/** The button that opened the dialog may be gone: it was for a state that the dialog has ended. */
function focusTitleIfLost(): void {
  if (document.activeElement === document.body) document.querySelector('h1')?.focus()
}

/** A modal dialog. The browser keeps the focus in it, closes it on Escape and returns the focus afterwards. */
export function Dialog({ title, onClose, isKept = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // Not a passive effect: those are cleaned up when the dialog is gone, and browsers return the focus only of one that
  // is closed.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      setTimeout(focusTitleIfLost)
    }
  }, [])
  function finish() {
    // Nobody has closed it: the page was left.
    if (!dialog.current?.isConnected) return
    // Browsers close a dialog on the second Escape, whatever became of the first one.
    if (isKept) dialog.current.showModal()
    else onClose()
  }
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={finish}
      onCancel={isKept ? (event) => event.preventDefault() : undefined}
    >
      <Text as="h2" id={titleId} text={title} />
      {children}
    </dialog>
  )
}

type InfoProps = Omit<DialogProps, 'isKept'> & {
  close?: string
  actions?: ComponentChildren
}

export const InfoDialog = ({ title, close = 'Close', actions, onClose, children }: InfoProps) => (
  <Dialog title={title} onClose={onClose}>
    <div class="form">
      {children}
      <div class="actions">
        <Button label={close} onClick={onClose} />
        {actions}
      </div>
    </div>
  </Dialog>
)

/** Closes the dialog of what the query of a page names. @param id what the dialog shows */
export function closeShown(path: string, name: string, id: string): void {
  const { path: current, query } = currentLocation.get()
  // The browser may have left the page already.
  if (current === path && query.get(name) === id) navigate(hrefHere({ [name]: null }), { replace: true })
}

type ActionState<T> = { isRunning: boolean; result: T | null; error: ApiError | null }
type Action<T> = ActionState<T> & { start: () => Promise<void> }

/** A request that a button starts, not twice at a time. The result is that of the last one, null while it runs. */
export function useAction<T = void>(action: () => Promise<T>): Action<T> {
  const [state, setState] = useState<ActionState<T>>({ isRunning: false, result: null, error: null })
  async function start() {
    if (state.isRunning) return
    setState({ isRunning: true, result: null, error: null })
    try {
      setState({ isRunning: false, result: await action(), error: null })
    } catch (error) {
      setState({ isRunning: false, result: null, error: asApiError(error) })
    }
  }
  return { ...state, start }
}

type StartProps = ComponentProps<typeof Button> & { of: Action<unknown>; busy?: string }

/** Starts an action. @param props.busy the label while it runs */
export const StartButton = ({ of: { isRunning, start }, label, busy, ...attributes }: StartProps) => (
  <Button label={(isRunning && busy) || label} disabled={isRunning} onClick={start} {...attributes} />
)

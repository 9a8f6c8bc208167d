import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { createStore, useStore } from '../state/store.ts'
import { VisibleText } from './visible-text.tsx'

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { label: ComponentChildren }

/** A button that does something on the page. One that sends its form is a `<button type="submit">`. */
export const Button = ({ label, ...attributes }: ButtonProps) => (
  <button type="button" {...attributes}>
    {label}
  </button>
)

const message = createStore('')

/** Says something to users of screen readers, for example that a button has done its work. */
export function announce(text: string): void {
  // The same text twice is only read twice if it changes in between.
  message.set('')
  setTimeout(() => message.set(text), 50)
}

/** Always there, so that screen readers notice what appears in it. */
export const Announcer = () => (
  <div class="visually-hidden" role="status">
    <VisibleText text={useStore(message)} />
  </div>
)

type Props = {
  /** Or a function that makes it when it is needed. */
  text: string | (() => string)
  label?: string
  /** What the button copies, if the label does not say it. For screen readers. */
  subject?: string
}

export function CopyButton({ text, label = 'Copy', subject }: Props) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null)
  useEffect(() => {
    const timer = setTimeout(() => setOutcome(null), 2_000)
    return () => clearTimeout(timer)
  }, [outcome])

  async function copy() {
    const hasCopied = await write(typeof text === 'string' ? text : text())
    setOutcome(hasCopied ? 'copied' : 'failed')
    announce(hasCopied ? 'Copied' : 'The browser did not allow copying.')
  }

  const shown = outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Not allowed' : label
  return (
    <button type="button" class="small" onClick={copy} aria-label={subject && `${shown} ${subject}`}>
      <VisibleText text={shown} />
    </button>
  )
}

/** The clipboard exists only on HTTPS and on this machine. Elsewhere, the selection is copied. */
async function write(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'visually-hidden'
    document.body.append(area)
    area.select()
    const hasCopied = document.execCommand('copy')
    area.remove()
    return hasCopied
  } catch {
    return false
  }
}

/** Lets the browser save a file. A link could not send the token. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { label: ComponentChildren }

/** A button that does something on the page. One that sends its form is a `<button type="submit">`. */
export const Button = ({ label, ...attributes }: Props) => (
  <button type="button" {...attributes}>
    {label}
  </button>
)

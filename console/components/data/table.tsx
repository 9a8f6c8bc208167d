import type { ComponentChildren } from 'preact'

type Column =
  | string
  | { label: string; isNumeric?: boolean /** Only for screen readers. */; isHidden?: boolean }

type Props = {
  /** What the table lists. For screen readers. */
  caption: string
  columns: Column[]
  /** Rows (`<tr>`). */
  children: ComponentChildren
}

/** A table that scrolls sideways where it does not fit. */
export function Table({ caption, columns, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus.
    <section class="table-scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => {
              const { label, isNumeric, isHidden } =
                typeof column === 'string' ? { label: column, isNumeric: false, isHidden: false } : column
              return (
                <th key={label} scope="col" class={isNumeric ? 'numeric' : undefined}>
                  {isHidden ? <span class="visually-hidden">{label}</span> : label}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

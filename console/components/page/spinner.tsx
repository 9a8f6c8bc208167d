/** Something is being loaded. It takes the space of a few rows, so that little moves when they arrive. */
export function Spinner({ label }: { label: string }) {
  return (
    <p class="spinner" role="status">
      <span class="spinner-dot" aria-hidden="true" />
      {label}
    </p>
  )
}

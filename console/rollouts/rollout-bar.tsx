/** A picture of the share, which is beside it as text. */
export const RolloutBar = ({ percent }: { percent: number }) => (
  <svg class="rollout-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rollout-rest" width={100} height={1} />
    <rect class="rollout-part" width={percent} height={1} />
  </svg>
)

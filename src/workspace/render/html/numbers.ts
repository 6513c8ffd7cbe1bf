export function countText(count: number): string {
  return Number(count).toLocaleString('en-US');
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return `${hours > 0 ? `${hours} h ` : ''}${minutes} min ${whole % 60} s`;
}

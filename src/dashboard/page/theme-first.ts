// Before anything is drawn: the theme that somebody chose, so that the page does not flash in the other one.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
} catch {
  // Where nothing may be kept, the system chooses.
}
